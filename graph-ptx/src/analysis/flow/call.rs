//! Calls: the callee's instance, and the flow of arguments and results.
//!
//! A call copies its arguments into the callee's parameters, and the callee's returns into the caller's registers or
//! variables. A recursive call, or a call beyond the size limits, uses an instance that all such calls of the
//! function share.

use super::{AbstractLocation, Flow, MAX_DEPTH, MAX_STEPS};
use crate::analysis::code::{NONE, Referent, Source, Step, StepId};
use crate::analysis::mentions::BUILT_IN;
use crate::analysis::value::{MEMORY, Origin, Value};
use std::collections::BTreeSet;

impl<'m, 'a> Flow<'_, 'm, 'a> {
    /// Returns the callee's instance; `None` if its body cannot be analysed.
    fn callee(&mut self, at: StepId, name: &'a str) -> Option<u32> {
        if let Some(&known) = self.at_call.get(&at) {
            return known;
        }
        let callee = self.codes.get(name).map(|code| {
            let mut recursive = false;
            let mut up = Some(at.instance);
            while let Some(instance) = up {
                let above = &self.instances[instance as usize];
                recursive |= above.shared || above.code.function.name == name;
                up = above.caller.map(|caller| caller.instance);
            }
            let depth = self.instances[at.instance as usize].depth;
            if recursive || depth >= MAX_DEPTH || self.effort.steps + code.steps.len() > MAX_STEPS {
                match self.shared.get(name) {
                    Some(&shared) => shared,
                    None => {
                        let shared = self.instantiate(code, Some(at), true);
                        self.shared.insert(self.instances[shared as usize].code.function.name, shared);
                        shared
                    }
                }
            } else {
                self.instantiate(code, Some(at), false)
            }
        });
        if let Some(callee) = callee {
            self.instances[callee as usize].callers.push(at);
        }
        self.at_call.insert(at, callee);
        callee
    }

    pub(super) fn evaluate_call(&mut self, instance: u32, at: u32, step: &Step<'m, 'a>) {
        let Some(call) = &step.call else { return };
        let callee = call.target.and_then(|name| self.callee(StepId { instance, step: at }, name));
        let Some(callee) = callee else { return self.evaluate_unknown_call(instance, at, step) };
        let function = self.instances[callee as usize].code.function;
        let arguments = self.instances[callee as usize].code.arguments.clone();
        let parameters = function.parameters.len();
        for (formal, source) in step.sources.iter().enumerate().take(parameters) {
            let value = arguments[formal];
            match (source, value) {
                (Source::Place(place @ (Referent::Local(_) | Referent::Parameter(_)), 0), NONE)
                    if !(instance == 0 && matches!(place, Referent::Parameter(_))) =>
                {
                    let from = self.object(instance, *place);
                    let to = self.object(callee, Referent::Parameter(formal as u32));
                    self.copy_object(from, to);
                }
                (_, NONE) => {
                    let given = self.source(instance, source);
                    let size = function.parameters[formal].size().min(16) as u32;
                    if let Some(to) = self.object(callee, Referent::Parameter(formal as u32))
                        && self.objects[to as usize].store(Some(0), size, &given)
                    {
                        self.changed(to);
                    }
                }
                (_, value) => {
                    let given = self.source(instance, source);
                    self.define(callee, value, &given);
                }
            }
        }
        for (nth, place) in call.returns.iter().enumerate() {
            if nth >= function.returns.len() {
                self.define(instance, step.defines[nth], &Value::loose(MEMORY));
                continue;
            }
            let formal = parameters + nth;
            match place {
                Some(place) => {
                    let from = self.object(callee, Referent::Parameter(formal as u32));
                    let to = self.object(instance, *place);
                    self.copy_object(from, to);
                }
                None => {
                    let mut value = Value::Bottom;
                    let code = self.instances[callee as usize].code.clone();
                    if code.returned.is_empty() {
                        // The callee returns by reaching its end, or never.
                        value.join(&Value::loose(MEMORY));
                    }
                    for returned in &code.returned {
                        value.join(self.value(callee, returned[nth]));
                    }
                    self.keep(instance, step, nth, &mut value);
                    self.define(instance, step.defines[nth], &value);
                }
            }
        }
    }

    fn copy_object(&mut self, from: Option<u32>, to: Option<u32>) {
        if let (Some(from), Some(to)) = (from, to)
            && !self.objects[from as usize].copies.contains(&to)
        {
            self.objects[from as usize].copies.push(to);
            self.dirty.push(from);
        }
    }

    /// Returns true for a function of the driver that the file does not define.
    pub fn is_built_in(&self, name: &str) -> bool {
        BUILT_IN.contains(&name) && !self.codes.mentions().defines(name)
    }

    /// Evaluates a call that cannot be followed. Some CUDA functions are known; all others may do anything.
    fn evaluate_unknown_call(&mut self, instance: u32, at: u32, step: &Step<'m, 'a>) {
        let Some(call) = &step.call else { return };
        if !call.target.is_some_and(|name| self.is_built_in(name)) {
            self.unknown_calls.note(StepId { instance, step: at }, call.target);
            for source in &step.sources {
                if let Source::Place(place @ (Referent::Local(_) | Referent::Parameter(_)), 0) = source
                    && let Some(object) = self.object(instance, *place)
                {
                    self.expose(object);
                }
                let value = self.source(instance, source);
                self.escape(&value);
            }
        }
        for (nth, place) in call.returns.iter().enumerate() {
            match place {
                Some(place) => {
                    if let Some(object) = self.object(instance, *place)
                        && self.objects[object as usize].store(Some(0), 8, &Value::loose(MEMORY))
                    {
                        self.changed(object);
                    }
                }
                None => self.define(instance, step.defines[nth], &Value::loose(MEMORY)),
            }
        }
    }

    /// Returns the origins of a call's arguments, and of local memory reachable from them.
    pub fn argument_origins(&mut self, instance: u32, step: &Step<'m, 'a>) -> BTreeSet<Origin> {
        let mut found = BTreeSet::new();
        let mut objects = Vec::new();
        let mut values = Vec::new();
        for source in &step.sources {
            if let Source::Place(place @ (Referent::Local(_) | Referent::Parameter(_)), 0) = source {
                objects.extend(self.object(instance, *place));
            }
            values.push(self.source(instance, source));
        }
        let mut seen = BTreeSet::new();
        loop {
            for origin in values.drain(..).flat_map(|value| value.origins()) {
                found.insert(origin);
                if let AbstractLocation::Object(object) = self.origins.location(origin) {
                    objects.push(object);
                }
            }
            let Some(object) = objects.pop() else { return found };
            if seen.insert(object) {
                values = self.objects[object as usize].contents();
            }
        }
    }
}
