//! Expands statements, loops, choices and calls.

use super::answers::{
    Answers, ExpansionFault, ExpansionPoint, Frame, FrameId, MAX_DEVICES, MAX_ITERATIONS, MAX_STATEMENTS,
    StatementOrigin, ZERO,
};
use super::flat::{ArgumentValue, BufferRange, FunctionScope, array};
use super::library;
use super::scope::Expansion;
use crate::ids::ArgumentId;
use crate::index::{Index, between, size, wide};
use crate::ir::{
    Access, BufferId, Device, DimId, Grant, Origin, Statement, StatementId, StatementKind, View,
};
use crate::kind::Lifetime;
use crate::structure::{Argument, Call, CallPosition, EnclosingLoop, Item, Loop, LoopRange};
use crate::table::{DecodedFunction, Parameter};

impl<A: Answers> Expansion<'_, A> {
    pub(super) fn body(&mut self, scope: &mut FunctionScope) -> Result<(), A::Error> {
        let table = scope.table;
        self.at_least(scope)?;
        if table.structure.is_flat() {
            for statement in table.program.statements.ids() {
                self.statement(scope, statement)?;
            }
            self.views(scope)?;
        } else {
            self.items(scope, &table.structure.body)?;
        }
        self.resolve(scope);
        Ok(())
    }

    /// Checks `#[at_least(n)]` and `#[at_most(n)]`.
    pub(super) fn at_least(&mut self, scope: &FunctionScope) -> Result<(), A::Error> {
        for (name, value, most) in &scope.table.structure.at_most {
            let (value, most) = (self.number(scope, *value)?.value, self.number(scope, *most)?.value);
            if value > most {
                let refusal = ExpansionFault::AtMost { argument: name.to_string(), most, value };
                return Err(self.refuse(scope, None, refusal));
            }
        }
        for (name, dim, least) in &scope.table.structure.at_least {
            let value = self.number(scope, *dim)?.value;
            if value < *least {
                let refusal = ExpansionFault::AtLeast { argument: name.to_string(), least: *least, value };
                return Err(self.refuse(scope, None, refusal));
            }
        }
        Ok(())
    }

    /// Resolves `#[after]` names of later statements. A statement that is not instantiated in this iteration adds
    /// no order.
    pub(super) fn resolve(&mut self, scope: &mut FunctionScope) {
        for (statement, before) in std::mem::take(&mut scope.forward) {
            let instances = between(scope.latest[before].start, scope.latest[before].end);
            self.flat.statements[statement].after.to_mut().extend(instances);
        }
    }

    /// Checks that outputs have their declared lengths.
    pub(super) fn returned(&mut self, scope: &FunctionScope) -> Result<(), A::Error> {
        for &(buffer, declared, actual) in &scope.table.structure.returned {
            let (declared, actual) = (self.number(scope, declared)?.value, self.number(scope, actual)?.value);
            if declared != actual {
                let buffer = scope.table.program.buffers[buffer].name.to_string();
                return Err(self.refuse(scope, None, ExpansionFault::Returned { buffer, declared, actual }));
            }
        }
        Ok(())
    }

    /// Adds the views of a flat function, including unused ones. The build checks that each is inside its parent.
    pub(super) fn views(&mut self, scope: &mut FunctionScope) -> Result<(), A::Error> {
        let table = scope.table;
        for view in table.program.views.iter() {
            if let Some(window) = scope.buffers[view.buffer] {
                self.add_view(scope, window, view)?;
            }
        }
        Ok(())
    }

    /// Adds the view that an access uses, unless the function is flat.
    fn add_used_view(
        &mut self,
        scope: &mut FunctionScope<'_>,
        window: BufferRange,
        access: &Access,
    ) -> Result<(), A::Error> {
        let table = scope.table;
        if table.structure.is_flat() {
            return Ok(());
        }
        let used = |view: &&View| (view.buffer, view.lo, view.hi) == (access.buffer, access.lo, access.hi);
        match table.program.views.iter().find(used) {
            Some(view) => self.add_view(scope, window, view),
            None => Ok(()),
        }
    }

    fn add_view(
        &mut self,
        scope: &mut FunctionScope<'_>,
        window: BufferRange,
        view: &View,
    ) -> Result<(), A::Error> {
        let [lo, hi] = self.within(scope, window, [view.lo, view.hi])?;
        let [from, to] = self.within(scope, window, [view.of.0, view.of.1])?;
        self.flat.views.push(View { buffer: window.buffer, lo, hi, of: (from, to), ..*view });
        Ok(())
    }

    /// Adds the check that a range of a callee's parameter is inside the parameter, even if the passed buffer is
    /// longer.
    fn add_parameter_view(
        &mut self,
        scope: &mut FunctionScope<'_>,
        statement: StatementId,
        access: &Access,
        window: BufferRange,
        lo: DimId,
        hi: DimId,
    ) -> Result<(), A::Error> {
        let program = &scope.table.program;
        let declared = &program.buffers[access.buffer];
        let whole = access.lo == ZERO && access.hi == declared.len;
        if scope.frame == FrameId::OUTERMOST || whole || matches!(declared.origin, Origin::Alloc(_)) {
            return Ok(());
        }
        let line = program.statements[statement].line;
        let of = match declared.origin {
            Origin::Part(_) => (window.lo, window.hi),
            _ => {
                let [from, to] = self.within(scope, window, [ZERO, declared.len])?;
                (from, to)
            }
        };
        self.flat.views.push(View { buffer: window.buffer, file: None, line, column: 0, lo, hi, of });
        Ok(())
    }

    pub(super) fn items<'t>(
        &mut self,
        scope: &mut FunctionScope<'t>,
        items: &'t [Item],
    ) -> Result<(), A::Error> {
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::Needs(part) => {
                    let behind = items[at..].iter().find_map(|item| match item {
                        Item::Statement(statement) => Some(*statement),
                        _ => None,
                    });
                    self.part(scope, *part, behind)?;
                }
                Item::Statement(statement) => self.statement(scope, *statement)?,
                Item::Loop(each) => self.expand_loop(scope, each)?,
                Item::Choice(choice) => {
                    let at = ExpansionPoint {
                        frames: &self.frames,
                        frame: scope.frame,
                        loop_values: &scope.loop_values,
                    };
                    let arm = self.answers.arm(at, choice)?;
                    if let Some(arm) = choice.arms.get(size(arm)) {
                        self.items(scope, arm)?;
                    }
                }
                Item::Rename { to, from } => {
                    self.check_rebinding(scope, *to, *from)?;
                    scope.buffers[*to] = scope.buffers[*from];
                }
                Item::Swap(a, b) => {
                    self.check_rebinding(scope, *a, *b)?;
                    scope.buffers.swap(*a, *b);
                }
            }
        }
        Ok(())
    }

    /// Rejects rebinding a name to a buffer of another length or element type.
    fn check_rebinding(
        &mut self,
        scope: &FunctionScope,
        one: BufferId,
        other: BufferId,
    ) -> Result<(), A::Error> {
        let windows = [one, other].map(|name| scope.buffers[name]);
        let [Some(first), Some(second)] = windows else { return Ok(()) };
        let element = |window: BufferRange| self.flat.elements[window.buffer];
        if self.length(first).value == self.length(second).value && element(first) == element(second) {
            return Ok(());
        }
        let name = |name: BufferId| scope.table.program.buffers[name].name.to_string();
        Err(self.refuse(scope, None, ExpansionFault::Unlike { one: name(one), other: name(other) }))
    }

    pub(super) fn expand_loop<'t>(
        &mut self,
        scope: &mut FunctionScope<'t>,
        each: &'t Loop,
    ) -> Result<(), A::Error> {
        let (lo, hi) = match each.range {
            LoopRange::Range(lo, hi) => (self.end(scope, lo)?, self.end(scope, hi)?),
            LoopRange::Elements(part) => match self.part(scope, part, None)? {
                ArgumentValue::List(elements) => (0, i128::from(wide(elements.len()))),
                _ => {
                    return Err(self.refuse(
                        scope,
                        None,
                        ExpansionFault::Malformed("a loop over what is no list"),
                    ));
                }
            },
        };
        for value in lo..hi {
            self.iterations += 1;
            if self.iterations > MAX_ITERATIONS {
                return Err(self.refuse(scope, None, ExpansionFault::TooLarge { most: MAX_ITERATIONS }));
            }
            // A range beyond 64 bits has more iterations than the limit.
            let Ok(value) = i64::try_from(value) else {
                return Err(self.refuse(scope, None, ExpansionFault::TooLarge { most: MAX_ITERATIONS }));
            };
            scope.set_variable(each.variable, value);
            self.items(scope, &each.body)?;
            self.resolve(scope);
        }
        Ok(())
    }

    pub(super) fn statement(
        &mut self,
        scope: &mut FunctionScope<'_>,
        id: StatementId,
    ) -> Result<(), A::Error> {
        let template = &scope.table.program.statements[id];
        if let StatementKind::Call(call) = template.kind {
            return self.call(scope, id, &scope.table.structure.calls[call]);
        }
        self.check_statement_limit(scope)?;
        let kind = match template.kind.lifetime() {
            Some(Lifetime::Begins(&buffer)) => StatementKind::Alloc(self.allocate(scope, buffer, id)?),
            Some(Lifetime::Ends(&buffer)) => StatementKind::Free(self.view(scope, buffer, Some(id))?.buffer),
            None => template.kind,
        };
        let mut accesses = Vec::with_capacity(template.accesses.len());
        for access in template.accesses.iter() {
            if let Some(elements) = self.list(scope, access.buffer, id)? {
                for element in elements.iter() {
                    let ArgumentValue::Buffer(BufferRange { buffer, lo, hi }) = *element else {
                        let refusal =
                            ExpansionFault::Malformed("an element of a table of pointers is no buffer");
                        return Err(self.refuse(scope, Some(id), refusal));
                    };
                    accesses.push(Access { buffer, lo, hi, ..*access });
                }
                continue;
            }
            let window = self.view(scope, access.buffer, Some(id))?;
            self.add_used_view(scope, window, access)?;
            let [lo, hi] = self.within(scope, window, [access.lo, access.hi])?;
            self.add_parameter_view(scope, id, access, window, lo, hi)?;
            let rows = match access.rows {
                Some(rows) => Some(self.rows(scope, rows)?),
                None => None,
            };
            accesses.push(Access { buffer: window.buffer, lo, hi, rows, ..*access });
        }
        let at = StatementId::new(self.flat.statements.len());
        let after = self.after(scope, id, at);
        let statement = Statement {
            name: self.name(scope, &template.name),
            line: template.line,
            column: template.column,
            file: template.file.clone().or_else(|| self.file(scope)),
            kind,
            accesses: accesses.into(),
            after: after.into(),
            on: None,
            device: self.device(scope, id)?,
            switchable: template.switchable,
        };
        self.flat.statements.push(statement);
        self.flat.instances.push(StatementOrigin {
            frame: scope.frame,
            template: id,
            loop_values: scope.loop_values.clone(),
        });
        scope.latest[id] = at..self.flat.next();
        Ok(())
    }

    /// Checks that the flat program has room for one more statement or call. Calls count even if their bodies are
    /// empty, since functions that call others twice make exponentially many.
    pub(super) fn check_statement_limit(&mut self, scope: &FunctionScope<'_>) -> Result<(), A::Error> {
        if self.flat.statements.len() + self.frames.len() <= MAX_STATEMENTS {
            return Ok(());
        }
        Err(self.refuse(scope, None, ExpansionFault::TooLarge { most: MAX_STATEMENTS }))
    }

    /// Returns the device of a statement, or the first device of a call.
    pub(super) fn device(&mut self, scope: &FunctionScope<'_>, id: StatementId) -> Result<Device, A::Error> {
        let Statement { on, device, .. } = scope.table.program.statements[id];
        self.placed(scope, id, on, device)
    }

    /// Returns the device of an expression, or else this one, both counted from the first device of the call.
    fn placed(
        &mut self,
        scope: &FunctionScope<'_>,
        id: StatementId,
        on: Option<DimId>,
        device: Device,
    ) -> Result<Device, A::Error> {
        let own = match on {
            Some(on) => self.number(scope, on)?.value,
            None => wide(device.index()),
        };
        let number = own.saturating_add(wide(scope.device.index()));
        match u32::try_from(number).ok().filter(|&number| number < MAX_DEVICES) {
            Some(number) => Ok(Device::from_u32(number)),
            None => Err(self.refuse(scope, Some(id), ExpansionFault::Device { device: number })),
        }
    }

    /// Returns the statements that the `#[after]` of an instance names. A later name refers to the same iteration
    /// and is resolved at its end.
    fn after(&mut self, scope: &mut FunctionScope<'_>, id: StatementId, at: StatementId) -> Vec<StatementId> {
        let (forward, backward): (Vec<StatementId>, Vec<StatementId>) =
            scope.table.program.statements[id].after.iter().partition(|&&before| before > id);
        scope.forward.extend(forward.into_iter().map(|before| (at, before)));
        let instances = |before: StatementId| between(scope.latest[before].start, scope.latest[before].end);
        backward.into_iter().flat_map(instances).collect()
    }

    /// Makes a new buffer for an allocation. The allocation must be the next statement.
    pub(super) fn allocate(
        &mut self,
        scope: &mut FunctionScope<'_>,
        buffer: BufferId,
        id: StatementId,
    ) -> Result<BufferId, A::Error> {
        let window = self.declare_buffer(scope, buffer)?;
        let at = self.flat.next();
        self.flat.buffers[window.buffer].origin = Origin::Alloc(at);
        let table = scope.table;
        for grant in table.program.grants.iter().filter(|grant| grant.buffer == buffer) {
            let device = self.placed(scope, id, grant.on, grant.device)?;
            self.flat.grants.push(Grant { buffer: window.buffer, on: None, device });
        }
        Ok(window.buffer)
    }

    /// Expands a call.
    pub(super) fn call(
        &mut self,
        scope: &mut FunctionScope<'_>,
        id: StatementId,
        call: &Call,
    ) -> Result<(), A::Error> {
        self.check_statement_limit(scope)?;
        let template = &scope.table.program.statements[id];
        // List elements that generated code names must exist.
        for argument in &call.arguments {
            if let Argument::Part(part) = argument {
                self.part(scope, *part, Some(id))?;
            }
        }
        let at = ExpansionPoint { frames: &self.frames, frame: scope.frame, loop_values: &scope.loop_values };
        let callee = self.answers.callee(at, id)?;
        self.check_recursion(scope, id, &callee)?;
        let first = self.flat.next();
        let mut inner = FunctionScope::new(&callee, FrameId::new(self.frames.len()));
        inner.device = self.device(scope, id)?;
        let name = self.call_name(scope, template, call)?;
        let prefix = format!("{}{name}.", self.frames[scope.frame].prefix);
        self.frames.push(Frame {
            table: callee.clone(),
            call: Some(StatementOrigin {
                frame: scope.frame,
                template: id,
                loop_values: scope.loop_values.clone(),
            }),
            empty: Vec::new(),
            prefix,
        });
        for (at, argument) in call.arguments.iter().enumerate() {
            let value = self.argument(scope, id, argument)?;
            // An optional buffer parameter is a list with at most one element.
            inner.arguments.push(match (callee.parameters.get(ArgumentId::new(at)), value) {
                (Some(Parameter::Buffers(_)), ArgumentValue::Scalar) => ArgumentValue::List([].into()),
                (Some(Parameter::Buffers(_)), value @ ArgumentValue::Buffer(_)) => {
                    ArgumentValue::List([value].into())
                }
                (_, value) => value,
            });
        }
        self.parameters(scope, id, &mut inner)?;
        match callee.capture() {
            Some(capture) => library::capture(self, scope, id, &mut inner, capture)?,
            None => {
                self.body(&mut inner)?;
                self.returned(&inner)?;
            }
        }
        // Each statement of the call inherits the call's predecessors.
        if !template.after.is_empty() {
            for at in between(first, self.flat.next()) {
                let after = self.after(scope, id, at);
                self.flat.statements[at].after.to_mut().extend(after);
            }
        }
        for (&output, &result) in callee.program.outputs.iter().zip(&call.results) {
            scope.buffers[result] = Some(self.view(&inner, output, None)?);
        }
        scope.latest[id] = first..self.flat.next();
        Ok(())
    }

    /// Returns the name of a call in the paths of its statements: `layer`, `layer[2]`, `layer:12[2]`.
    fn call_name(
        &mut self,
        scope: &FunctionScope<'_>,
        template: &Statement,
        call: &Call,
    ) -> Result<String, A::Error> {
        let Statement { name, line, .. } = template;
        let mut path = match call.place {
            CallPosition::Only => name.to_string(),
            CallPosition::Line => format!("{name}:{line}"),
            CallPosition::Column(column) => format!("{name}:{line}:{column}"),
        };
        for around in &call.around {
            let value = match *around {
                EnclosingLoop::Value(value) => i128::from(value),
                EnclosingLoop::Up(variable) => i128::from(scope.loop_values[variable.index()]),
                EnclosingLoop::Down(variable, lo, hi) => {
                    let (lo, hi) = (self.end(scope, lo)?, self.end(scope, hi)?);
                    lo + hi - 1 - i128::from(scope.loop_values[variable.index()])
                }
            };
            path.push_str(&format!("[{value}]"));
        }
        Ok(path)
    }

    /// Returns the value of an argument of a call.
    fn argument(
        &mut self,
        scope: &mut FunctionScope<'_>,
        id: StatementId,
        argument: &Argument,
    ) -> Result<ArgumentValue, A::Error> {
        Ok(match argument {
            Argument::Scalar { .. } => ArgumentValue::Scalar,
            Argument::Host(argument) => scope.arguments[*argument].clone(),
            Argument::Access(index) => {
                let access = &scope.table.program.statements[id].accesses[size(*index)];
                let window = self.view(scope, access.buffer, Some(id))?;
                self.add_used_view(scope, window, access)?;
                let [lo, hi] = self.within(scope, window, [access.lo, access.hi])?;
                self.add_parameter_view(scope, id, access, window, lo, hi)?;
                ArgumentValue::Buffer(BufferRange { buffer: window.buffer, lo, hi })
            }
            Argument::Moved(buffer) => ArgumentValue::Buffer(self.view(scope, *buffer, Some(id))?),
            Argument::Part(part) => self.part(scope, *part, Some(id))?,
        })
    }

    /// Binds the parameters of a callee to the buffers of its arguments. The buffers must have at least the
    /// declared lengths.
    pub(super) fn parameters(
        &mut self,
        scope: &FunctionScope,
        id: StatementId,
        inner: &mut FunctionScope,
    ) -> Result<(), A::Error> {
        let callee = inner.table;
        let parameters: Vec<(BufferId, ArgumentValue)> = callee
            .parameters
            .iter()
            .zip(&inner.arguments)
            .flat_map(|(parameter, value)| match (parameter, value) {
                (&Parameter::Buffer(buffer), value) => vec![(buffer, value.clone())],
                (&Parameter::Array(first, _), ArgumentValue::List(list)) => {
                    array(first, list.len()).zip(list.iter().cloned()).collect()
                }
                (&Parameter::Buffers(declared), ArgumentValue::List(list)) => {
                    list.iter().map(|element| (declared, element.clone())).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        for (buffer, value) in parameters {
            let ArgumentValue::Buffer(window) = value else {
                return Err(self.refuse(
                    scope,
                    Some(id),
                    ExpansionFault::Malformed("an argument of a call is no buffer"),
                ));
            };
            inner.buffers[buffer] = Some(window);
            let declared = &callee.program.buffers[buffer];
            let (needed, length) = (self.number(inner, declared.len)?.value, self.length(window));
            let len = length.value;
            if length.poly.as_constant().is_none() {
                let [lo, hi] = self.within(inner, window, [ZERO, declared.len])?;
                let line = scope.table.program.statements[id].line;
                let of = (window.lo, window.hi);
                self.flat.views.push(View { buffer: window.buffer, file: None, line, column: 0, lo, hi, of });
            }
            if needed > len {
                let refusal = ExpansionFault::Short {
                    callee: callee.program.name.to_string(),
                    parameter: declared.name.to_string(),
                    buffer: self.flat.buffers[window.buffer].name.to_string(),
                    needed,
                    len,
                };
                return Err(self.refuse(scope, Some(id), refusal));
            }
        }
        Ok(())
    }

    /// Rejects a callee that is already being expanded.
    pub(super) fn check_recursion(
        &mut self,
        scope: &FunctionScope,
        id: StatementId,
        callee: &DecodedFunction,
    ) -> Result<(), A::Error> {
        let mut frame = Some(scope.frame);
        while let Some(at) = frame {
            let Frame { table, call, .. } = &self.frames[at];
            if std::ptr::eq(&raw const **table, callee) {
                let cycle = self.cycle(scope.frame, at, callee);
                return Err(self.refuse(scope, Some(id), ExpansionFault::Recursion { cycle }));
            }
            frame = call.as_ref().map(|call| call.frame);
        }
        Ok(())
    }

    /// Returns the functions from frame `first` to frame `last`, which calls `first` again.
    fn cycle(&self, last: FrameId, first: FrameId, callee: &DecodedFunction) -> Vec<String> {
        let mut cycle = vec![callee.program.name.to_string()];
        let mut at = last;
        loop {
            let Frame { table, call, .. } = &self.frames[at];
            cycle.push(table.program.name.to_string());
            match call {
                Some(call) if at != first => at = call.frame,
                _ => break,
            }
        }
        cycle.reverse();
        cycle
    }
}
