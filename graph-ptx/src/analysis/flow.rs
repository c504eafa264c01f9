//! Points-to analysis of a kernel and its callees.
//!
//! Input: a kernel in static single assignment form. Output: the origins of every value ([`Value`]) and the contents
//! of local memory ([`Object`]). A worklist computes the fixpoint. The analysis is context-sensitive: each call has
//! its own instance of the callee until there are too many instances or the call is recursive; from then on all calls
//! of a function share one. An address escapes if it is stored to visible memory or passed to unknown code.

mod call;
mod codes;
mod loads;
mod origins;
mod queue;
mod targets;
mod words;

use crate::analysis::code::{NONE, Referent, Source, SsaFunction, Step, StepId};
use crate::analysis::effect::{self, AccessKind, Effect, OperandAccess};
use crate::analysis::memory::Object;
use crate::analysis::transfer;
use crate::analysis::value::{MEMORY, Value};
use crate::isa::{self, Operation};
use crate::syntax::{Instruction, StateSpace, TypeClass};
pub use codes::ParameterKinds;
pub(crate) use codes::SsaCache;
pub(crate) use origins::AbstractLocation;
use origins::OriginTable;
use queue::StepQueue;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use targets::AddressTargets;
pub(crate) use words::Word;
use words::{WordTable, sized_words, words_of_address};

/// The maximum number of steps of all instances; beyond it, calls share instances.
const MAX_STEPS: usize = 60_000;
/// The maximum depth of calls; beyond it, calls share instances.
const MAX_DEPTH: u32 = 24;
/// The maximum average number of evaluations per step; beyond it, the kernel is unknown. An evaluation of a value
/// with many origins counts several times, because its joins take longer.
const MAX_EVALUATIONS: usize = 200;
/// The number of origins that count as one more evaluation.
const ORIGINS_OF_AN_EVALUATION: usize = 16;

/// A function in the context of one call, or of several calls that share the instance.
pub(crate) struct Instance<'m, 'a> {
    pub code: Rc<SsaFunction<'m, 'a>>,
    /// The index of the instance's first value, then of its first object.
    values: usize,
    objects: usize,
    depth: u32,
    /// The call; the first one for a shared instance.
    pub caller: Option<StepId>,
    callers: Vec<StepId>,
    shared: bool,
}

impl Instance<'_, '_> {
    /// Returns true if several calls share the instance.
    pub fn is_shared(&self) -> bool {
        self.shared
    }
}

/// The calls that cannot be followed.
#[derive(Default)]
pub(crate) struct UnknownCalls<'a> {
    pub steps: Vec<StepId>,
    /// The functions that they name.
    pub named: BTreeSet<&'a str>,
    /// True if one of them is an indirect call.
    pub indirect: bool,
}

impl<'a> UnknownCalls<'a> {
    fn note(&mut self, at: StepId, target: Option<&'a str>) {
        if !self.steps.contains(&at) {
            self.steps.push(at);
        }
        self.named.extend(target);
        self.indirect |= target.is_none();
    }
}

/// The size of the analysis and the work done so far.
#[derive(Default)]
struct Effort {
    /// The number of steps of all instances.
    steps: usize,
    evaluations: usize,
}

impl Effort {
    fn is_exceeded(&self) -> bool {
        self.evaluations > self.steps.saturating_mul(MAX_EVALUATIONS)
    }
}

/// The points-to analysis of one kernel.
pub(crate) struct Flow<'c, 'm, 'a> {
    pub codes: &'c mut SsaCache<'m, 'a>,
    pub kernel: Rc<SsaFunction<'m, 'a>>,
    pub kinds: ParameterKinds<'c>,
    pub origins: OriginTable,
    pub instances: Vec<Instance<'m, 'a>>,
    at_call: HashMap<StepId, Option<u32>>,
    shared: HashMap<&'a str, u32>,
    values: Vec<Value>,
    objects: Vec<Object>,
    allocated: HashMap<StepId, u32>,
    queue: StepQueue,
    dirty: Vec<u32>,
    pub words: WordTable,
    pub unknown_calls: UnknownCalls<'a>,
    effort: Effort,
    /// True if the analysis exceeded its limits.
    pub exceeded_limits: bool,
}

impl<'c, 'm, 'a> Flow<'c, 'm, 'a> {
    /// Analyses a kernel. `None` if it has no body, or if its body is too large.
    pub fn new(codes: &'c mut SsaCache<'m, 'a>, name: &str, kinds: ParameterKinds<'c>) -> Option<Self> {
        let kernel = codes.kernel(name, kinds.never_null)?;
        let mut flow = Flow {
            codes,
            kernel: kernel.clone(),
            kinds,
            origins: OriginTable::default(),
            instances: Vec::new(),
            at_call: HashMap::new(),
            shared: HashMap::new(),
            values: Vec::new(),
            objects: Vec::new(),
            allocated: HashMap::new(),
            queue: StepQueue::default(),
            dirty: Vec::new(),
            words: WordTable::default(),
            unknown_calls: UnknownCalls::default(),
            effort: Effort::default(),
            exceeded_limits: false,
        };
        flow.instantiate(kernel, None, false);
        flow.run();
        Some(flow)
    }

    fn run(&mut self) {
        loop {
            while let Some(object) = self.dirty.pop() {
                self.spread(object);
            }
            let Some(StepId { instance, step }) = self.queue.pop() else { return };
            self.evaluate(instance, step);
            self.effort.evaluations += 1;
            if self.effort.is_exceeded() {
                self.exceeded_limits = true;
                return;
            }
        }
    }

    fn instantiate(&mut self, code: Rc<SsaFunction<'m, 'a>>, caller: Option<StepId>, shared: bool) -> u32 {
        let number = self.instances.len() as u32;
        let depth = caller.map_or(0, |caller| self.instances[caller.instance as usize].depth + 1);
        let instance = Instance {
            values: self.values.len(),
            objects: self.objects.len(),
            depth,
            caller,
            callers: Vec::new(),
            shared,
            code: code.clone(),
        };
        self.instances.push(instance);
        self.values.extend(code.undefined.iter().map(|&any| if any { Value::Plain } else { Value::Bottom }));
        let objects = code.function.parameters.len() + code.function.returns.len() + code.locals.len();
        self.objects.resize_with(self.objects.len() + objects, Object::default);
        self.effort.steps += code.steps.len();
        self.queue.add_instance(code.steps.len());
        number
    }

    pub fn value(&self, instance: u32, value: u32) -> &Value {
        if value == NONE {
            return &Value::Plain;
        }
        &self.values[self.instances[instance as usize].values + value as usize]
    }

    fn define(&mut self, instance: u32, value: u32, new: &Value) {
        if value == NONE {
            return;
        }
        let at = self.instances[instance as usize].values + value as usize;
        self.effort.evaluations += new.len() / ORIGINS_OF_AN_EVALUATION;
        if !self.values[at].join(new) {
            return;
        }
        let code = self.instances[instance as usize].code.clone();
        for &user in &code.users[value as usize] {
            self.queue.push(StepId { instance, step: user });
        }
        if code.returned.iter().any(|returned| returned.contains(&value)) {
            for &caller in &self.instances[instance as usize].callers {
                self.queue.push(caller);
            }
        }
    }

    /// Returns the object of a callee's parameter or of a variable of a body.
    fn object(&self, instance: u32, place: Referent) -> Option<u32> {
        let instance = &self.instances[instance as usize];
        let formals = instance.code.function.parameters.len() + instance.code.function.returns.len();
        match place {
            Referent::Parameter(parameter) => Some((instance.objects + parameter as usize) as u32),
            Referent::Local(local) => Some((instance.objects + formals + local as usize) as u32),
            _ => None,
        }
    }

    fn address(&mut self, instance: u32, place: Referent, offset: i64) -> Value {
        let location = match place {
            Referent::Value(value) => {
                let value = self.value(instance, value);
                return if offset == 0 { value.clone() } else { value.plus(&Value::constant(offset), 1) };
            }
            Referent::Part(value) => return Value::derived([self.value(instance, value)]),
            Referent::Parameter(parameter) if instance == 0 => AbstractLocation::Parameter(parameter),
            Referent::Module(variable) => {
                if self.codes.globals.variables[variable as usize].space == StateSpace::Shared {
                    return Value::Plain;
                }
                AbstractLocation::Variable(variable)
            }
            Referent::Local(local)
                if self.instances[instance as usize].code.locals[local as usize].space
                    == StateSpace::Shared =>
            {
                return Value::Plain;
            }
            Referent::Local(_) | Referent::Parameter(_) => match self.object(instance, place) {
                Some(object) => AbstractLocation::Object(object),
                None => return Value::Plain,
            },
            Referent::Function | Referent::Absolute => return Value::Plain,
        };
        let origin = self.origins.origin(location);
        Value::address(origin, offset)
    }

    /// Returns the value of a source; for a memory operand, its address.
    pub fn source(&mut self, instance: u32, source: &Source<'a>) -> Value {
        match source {
            Source::Constant(value) => Value::constant(*value),
            Source::Place(place, offset) | Source::Memory(place, offset) => {
                self.address(instance, *place, *offset)
            }
            Source::Special(_) | Source::Other(_) => Value::Plain,
        }
    }

    /// Enqueues the readers of a changed object.
    fn changed(&mut self, object: u32) {
        for &reader in &self.objects[object as usize].readers {
            self.queue.push(reader);
        }
        self.dirty.push(object);
    }

    /// Copies the contents of an object to the objects that receive them. The contents of an escaped object escape.
    fn spread(&mut self, object: u32) {
        let from = std::mem::take(&mut self.objects[object as usize]);
        for &to in &from.copies {
            if to != object && self.objects[to as usize].take(&from) {
                self.changed(to);
            }
        }
        let contents = if from.escaped { from.contents() } else { Vec::new() };
        self.objects[object as usize] = from;
        for value in contents {
            self.escape(&value);
        }
    }

    /// Marks all origins of a value as escaped.
    fn escape(&mut self, value: &Value) {
        for origin in value.origins() {
            if !self.origins.escape(origin) {
                continue;
            }
            match self.origins.location(origin) {
                AbstractLocation::Object(object) => self.expose(object),
                AbstractLocation::Parameter(parameter) => {
                    let size = self
                        .kernel
                        .function
                        .parameters
                        .get(parameter as usize)
                        .map_or(0, crate::syntax::Parameter::size);
                    let words = (0..size.min(4096) as i64).step_by(8);
                    for offset in words {
                        let word = self.load_parameter_word(parameter, Some(offset), 8, false);
                        self.escape(&word);
                    }
                }
                _ => {}
            }
        }
    }

    fn expose(&mut self, object: u32) {
        if !std::mem::replace(&mut self.objects[object as usize].escaped, true) {
            self.changed(object);
        }
    }

    /// Returns the value of element `nth` of a load.
    fn load(&mut self, at: StepId, address: &Value, instruction: &Instruction<'_>, nth: u32) -> Value {
        let (_, size, ty) = effect::sizes(instruction);
        let float = ty.is_some_and(|ty| ty.class() == TypeClass::Float);
        let more = i64::from(nth) * i64::from(size);
        let memory = if size >= 8 && !float { Value::loose(MEMORY) } else { Value::Plain };
        if instruction.space() == Some(StateSpace::Shared) {
            return if memory == Value::Plain { memory } else { self.words.load(Word::Shared, size, float) };
        }
        let AddressTargets { locations, elsewhere, none } = AddressTargets::new(address, more);
        let mut value = match words_of_address(address) {
            // The address is a parameter's word; a value loaded through it counts as the same word.
            Some(words) if size >= 4 && !float => sized_words(words, size),
            _ if elsewhere || none => memory.clone(),
            _ => Value::Bottom,
        };
        for (origin, offset) in locations {
            match self.origins.location(origin) {
                AbstractLocation::Object(object) => {
                    let found = &mut self.objects[object as usize];
                    if !found.readers.contains(&at) {
                        found.readers.push(at);
                    }
                    let read = found.load(offset, size, float);
                    self.origins.leak(&read.dropped);
                    value.join(&read.value);
                }
                AbstractLocation::Parameter(parameter) => {
                    let word = self.load_parameter_word(parameter, offset, size, float);
                    value.join(&word);
                }
                AbstractLocation::Pointer(parameter) => {
                    let elements = self.words.load(Word::Elements(parameter), size, float);
                    value.join(&elements);
                }
                _ => {
                    value.join(&memory);
                }
            }
        }
        value
    }

    /// Stores an element through an address. `more` is its distance in bytes from the first element.
    fn store(&mut self, address: &Value, space: Option<StateSpace>, more: i64, size: u32, value: &Value) {
        if space == Some(StateSpace::Shared) {
            self.words.add_shared(value.loose_bits());
            return self.escape(value);
        }
        let AddressTargets { locations, elsewhere, none } = AddressTargets::new(address, more);
        let mut seen = elsewhere || none && *address != Value::Bottom;
        for (origin, offset) in locations {
            match self.origins.location(origin) {
                AbstractLocation::Object(object) => {
                    if self.objects[object as usize].store(offset, size, value) {
                        self.changed(object);
                    }
                    seen |= self.objects[object as usize].escaped;
                }
                _ => seen = true,
            }
        }
        if seen {
            self.escape(value);
        }
    }

    fn evaluate(&mut self, instance: u32, at: u32) {
        let code = self.instances[instance as usize].code.clone();
        let step = &code.steps[at as usize];
        let Some(instruction) = step.instruction else {
            let mut value = Value::Bottom;
            for source in &step.sources {
                match source {
                    Source::Place(Referent::Value(from), _) => value.join(self.value(instance, *from)),
                    _ => value.join(&Value::Plain),
                };
            }
            return self.define(instance, step.defines[0], &value);
        };
        match effect::effect(instruction) {
            Effect::Compute => {
                let value = self.compute(instance, step, instruction);
                self.define_all(instance, step, &value);
            }
            Effect::Load => self.evaluate_load(instance, at, step, instruction),
            Effect::Store => self.evaluate_store(instance, step, instruction),
            Effect::Memory | Effect::Texture(_) => self.evaluate_other_memory(instance, step, instruction),
            Effect::Call => self.evaluate_call(instance, at, step),
            Effect::Control => self.define_all(instance, step, &Value::Plain),
            Effect::Alloca => {
                let here = StepId { instance, step: at };
                let object = match self.allocated.get(&here) {
                    Some(&object) => object,
                    None => {
                        self.objects.push(Object::default());
                        self.allocated.insert(here, self.objects.len() as u32 - 1);
                        self.objects.len() as u32 - 1
                    }
                };
                let origin = self.origins.origin(AbstractLocation::Object(object));
                self.define_all(instance, step, &Value::address(origin, 0));
            }
            Effect::Unknown => self.evaluate_unknown(instance, step),
        }
    }

    fn evaluate_load(&mut self, instance: u32, at: u32, step: &Step<'m, 'a>, instruction: &Instruction<'a>) {
        let Some(address) = step.sources.first().map(|source| self.source(instance, source)) else {
            return self.define_all(instance, step, &Value::loose(MEMORY));
        };
        let (all, element, _) = effect::sizes(instruction);
        let vector = if step.defines.len() == 1 { all / element.max(1) } else { 1 };
        let here = StepId { instance, step: at };
        for (nth, &target) in step.defines.iter().enumerate() {
            let mut value = self.load(here, &address, instruction, nth as u32);
            for nth in 1..vector {
                value.join(&self.load(here, &address, instruction, nth));
            }
            self.keep(instance, step, nth, &mut value);
            self.define(instance, target, &value);
        }
    }

    fn evaluate_store(&mut self, instance: u32, step: &Step<'m, 'a>, instruction: &Instruction<'a>) {
        let Some((address, stored)) = step.sources.split_first() else { return };
        let address = self.source(instance, address);
        let (all, size, _) = effect::sizes(instruction);
        let vector = if stored.len() == 1 { all / size.max(1) } else { 1 };
        for (nth, source) in stored.iter().enumerate() {
            let value = self.source(instance, source);
            for part in 0..vector {
                let more = (nth as i64 + i64::from(part)) * i64::from(size);
                self.store(&address, instruction.space(), more, size, &value);
            }
        }
    }

    /// Evaluates an unknown instruction: its operands escape, and its results may be based on any of them.
    fn evaluate_unknown(&mut self, instance: u32, step: &Step<'m, 'a>) {
        let mut all = Value::loose(MEMORY);
        for source in &step.sources {
            let value = self.source(instance, source);
            self.escape(&value);
            all.join(&Value::derived([&value]));
        }
        for &kept in &step.keeps {
            let value = self.value(instance, kept).clone();
            self.escape(&value);
        }
        self.define_all(instance, step, &all);
    }

    fn compute(&mut self, instance: u32, step: &Step<'m, 'a>, instruction: &Instruction<'a>) -> Value {
        let operation = isa::row(instruction.op()).operation;
        if operation == Operation::Address && instruction.has("shared") && !instruction.has("to")
            || operation == Operation::SharedAddress
        {
            let origin = self.origins.origin(AbstractLocation::Shared);
            return Value::address(origin, 0).moved();
        }
        let sources: Vec<Value> = step.sources.iter().map(|source| self.source(instance, source)).collect();
        let result = transfer::compute(instruction, &sources);
        if result.leaks {
            for value in &sources {
                self.origins.leak(value);
            }
        }
        result.value
    }

    fn keep(&self, instance: u32, step: &Step<'_, '_>, nth: usize, value: &mut Value) {
        if let Some(&kept) = step.keeps.get(nth)
            && kept != NONE
        {
            value.join(self.value(instance, kept));
        }
    }

    fn define_all(&mut self, instance: u32, step: &Step<'_, '_>, value: &Value) {
        for (nth, &target) in step.defines.iter().enumerate() {
            let mut value = value.clone();
            self.keep(instance, step, nth, &mut value);
            self.define(instance, target, &value);
        }
    }

    /// Evaluates atomics, copies and textures. Operands other than addresses escape.
    fn evaluate_other_memory(&mut self, instance: u32, step: &Step<'m, 'a>, instruction: &Instruction<'a>) {
        let (_, size, ty) = effect::sizes(instruction);
        let wide = size >= 8 && ty.is_none_or(|ty| ty.class() != TypeClass::Float);
        let mut old = if wide { Value::loose(MEMORY) } else { Value::Plain };
        let mut nth = 0;
        for source in &step.sources {
            let value = self.source(instance, source);
            if !matches!(source, Source::Memory(..)) {
                self.escape(&value);
                continue;
            }
            let OperandAccess { how, space, .. } = effect::touch(instruction, nth);
            if wide && how == AccessKind::Atomic {
                old = self.load_old_value(&value, space);
            }
            nth += 1;
            for origin in value.origins() {
                if let AbstractLocation::Object(object) = self.origins.location(origin)
                    && !matches!(how, AccessKind::Nothing | AccessKind::Read)
                {
                    self.expose(object);
                }
            }
        }
        self.define_all(instance, step, &old);
    }
}
