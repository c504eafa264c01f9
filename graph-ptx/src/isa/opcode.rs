//! The table of opcodes.

/// Classes of instructions, by their effect on memory and control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// From registers to registers.
    Compute,
    /// `ld`, also of parameters and local memory.
    Load,
    /// `st`; its asynchronous and bulk forms are [`Effect::Memory`].
    Store,
    /// Accesses memory through addresses in other ways.
    Memory,
    /// `wmma`: [`Effect::Compute`] for `wmma.mma`, else [`Effect::Memory`].
    Wmma,
    /// `fence`: [`Effect::Memory`] for the fence of a tensor map, else [`Effect::Control`].
    Fence,
    /// Reads a texture or surface through a handle.
    TextureRead,
    /// Writes a surface through a handle.
    TextureWrite,
    /// Calls a function.
    Call,
    /// Jumps, barriers, hints.
    Control,
    /// Allocates memory in the frame.
    Alloca,
    /// May read and write through every address operand, and keep every register.
    Unknown,
}

/// The meaning of the address operands of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// It has none.
    None,
    /// The one address is read.
    Load,
    /// The one address is written; asynchronous and bulk forms write shared memory.
    Store,
    /// The one address is updated.
    Atomic,
    /// `multimem`: by its form.
    Multimem,
    /// `cp`: source and destination, by its form.
    Copy,
    /// `tensormap`: destination, then source.
    Tensormap,
    /// No access happens.
    Hint,
    /// The contents are lost.
    Discard,
    /// Shared memory is read.
    SharedRead,
    /// Shared memory is written.
    SharedWrite,
    /// `wmma`: by its form.
    Wmma,
    /// The fence of a tensor map reads it.
    Fence,
    /// Not known.
    Unknown,
}

/// Tells if the first operand is a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defines {
    /// It is.
    First,
    /// It is for instructions with this modifier.
    FirstIf(&'static str),
    /// It is not.
    Never,
}

/// The effect on control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Control goes to the next instruction.
    Next,
    /// Control goes to a target; to the next instruction too where it is guarded.
    Jump,
    /// Control leaves the function or the kernel.
    Leave,
}

/// Tells if an instruction may make writes of other threads visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronises {
    /// It may.
    Always,
    /// A load may, if it is volatile, relaxed, acquire or of memory-mapped I/O.
    IfOrdered,
    /// A copy may, if it waits.
    IfWaits,
    /// It does not.
    Never,
}

/// A row of the table: the properties of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its effect.
    pub effect: Effect,
    /// The meaning of its address operands.
    pub addresses: Addresses,
    /// Its definitions.
    pub defines: Defines,
    /// Its effect on control flow.
    pub flow: Flow,
    /// Its visibility of other threads' writes.
    pub synchronises: Synchronises,
}

macro_rules! opcodes {
    ($($name:ident $text:literal $effect:ident $addresses:ident [$($defines:tt)*] $flow:ident $sync:ident,)*) => {
        /// The opcodes of PTX, without their modifiers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Opcode {
            $(#[doc = concat!("`", $text, "`")] $name,)*
            /// One that is not in the table.
            Unknown,
        }

        impl Opcode {
            /// Returns the opcode of a mnemonic such as `ld`.
            pub fn of(mnemonic: &str) -> Opcode {
                match mnemonic { $($text => Opcode::$name,)* _ => Opcode::Unknown }
            }
        }

        /// Returns the properties of an opcode.
        pub fn row(opcode: Opcode) -> Row {
            match opcode {
                $(Opcode::$name => Row {
                    effect: Effect::$effect,
                    addresses: Addresses::$addresses,
                    defines: Defines::$($defines)*,
                    flow: Flow::$flow,
                    synchronises: Synchronises::$sync,
                },)*
                Opcode::Unknown => Row {
                    effect: Effect::Unknown,
                    addresses: Addresses::Unknown,
                    defines: Defines::First,
                    flow: Flow::Next,
                    synchronises: Synchronises::Always,
                },
            }
        }
    };
}

opcodes! {
    // Name, mnemonic, effect, addresses, definition, control flow, synchronises.
    // Integer and floating-point arithmetic.
    Add "add" Compute None [First] Next Never,
    Sub "sub" Compute None [First] Next Never,
    Mad "mad" Compute None [First] Next Never,
    Mul "mul" Compute None [First] Next Never,
    Mul24 "mul24" Compute None [First] Next Never,
    Mad24 "mad24" Compute None [First] Next Never,
    Fma "fma" Compute None [First] Next Never,
    Abs "abs" Compute None [First] Next Never,
    Neg "neg" Compute None [First] Next Never,
    Min "min" Compute None [First] Next Never,
    Max "max" Compute None [First] Next Never,
    Div "div" Compute None [First] Next Never,
    Rem "rem" Compute None [First] Next Never,
    Sad "sad" Compute None [First] Next Never,
    Addc "addc" Compute None [First] Next Never,
    Subc "subc" Compute None [First] Next Never,
    Madc "madc" Compute None [First] Next Never,
    Add3 "add3" Compute None [First] Next Never,
    Rcp "rcp" Compute None [First] Next Never,
    Sqrt "sqrt" Compute None [First] Next Never,
    Rsqrt "rsqrt" Compute None [First] Next Never,
    Sin "sin" Compute None [First] Next Never,
    Cos "cos" Compute None [First] Next Never,
    Lg2 "lg2" Compute None [First] Next Never,
    Ex2 "ex2" Compute None [First] Next Never,
    Tanh "tanh" Compute None [First] Next Never,
    Copysign "copysign" Compute None [First] Next Never,
    Testp "testp" Compute None [First] Next Never,
    Dp4a "dp4a" Compute None [First] Next Never,
    Dp2a "dp2a" Compute None [First] Next Never,
    // Comparison and selection.
    Setp "setp" Compute None [First] Next Never,
    Set "set" Compute None [First] Next Never,
    Selp "selp" Compute None [First] Next Never,
    Slct "slct" Compute None [First] Next Never,
    // Bits.
    Shl "shl" Compute None [First] Next Never,
    Shr "shr" Compute None [First] Next Never,
    And "and" Compute None [First] Next Never,
    Or "or" Compute None [First] Next Never,
    Xor "xor" Compute None [First] Next Never,
    Not "not" Compute None [First] Next Never,
    Bfe "bfe" Compute None [First] Next Never,
    Bfi "bfi" Compute None [First] Next Never,
    Bfind "bfind" Compute None [First] Next Never,
    Bmsk "bmsk" Compute None [First] Next Never,
    Brev "brev" Compute None [First] Next Never,
    Popc "popc" Compute None [First] Next Never,
    Clz "clz" Compute None [First] Next Never,
    Cnot "cnot" Compute None [First] Next Never,
    Fns "fns" Compute None [First] Next Never,
    Lop3 "lop3" Compute None [First] Next Never,
    Shf "shf" Compute None [First] Next Never,
    Prmt "prmt" Compute None [First] Next Never,
    Szext "szext" Compute None [First] Next Never,
    // Video instructions.
    Vadd "vadd" Compute None [First] Next Never,
    Vsub "vsub" Compute None [First] Next Never,
    Vabsdiff "vabsdiff" Compute None [First] Next Never,
    Vmin "vmin" Compute None [First] Next Never,
    Vmax "vmax" Compute None [First] Next Never,
    Vshl "vshl" Compute None [First] Next Never,
    Vshr "vshr" Compute None [First] Next Never,
    Vmad "vmad" Compute None [First] Next Never,
    Vset "vset" Compute None [First] Next Never,
    Vadd2 "vadd2" Compute None [First] Next Never,
    Vsub2 "vsub2" Compute None [First] Next Never,
    Vavrg2 "vavrg2" Compute None [First] Next Never,
    Vabsdiff2 "vabsdiff2" Compute None [First] Next Never,
    Vmin2 "vmin2" Compute None [First] Next Never,
    Vmax2 "vmax2" Compute None [First] Next Never,
    Vset2 "vset2" Compute None [First] Next Never,
    Vadd4 "vadd4" Compute None [First] Next Never,
    Vsub4 "vsub4" Compute None [First] Next Never,
    Vavrg4 "vavrg4" Compute None [First] Next Never,
    Vabsdiff4 "vabsdiff4" Compute None [First] Next Never,
    Vmin4 "vmin4" Compute None [First] Next Never,
    Vmax4 "vmax4" Compute None [First] Next Never,
    Vset4 "vset4" Compute None [First] Next Never,
    // Moves, conversions and addresses.
    Mov "mov" Compute None [First] Next Never,
    Cvt "cvt" Compute None [First] Next Never,
    Cvta "cvta" Compute None [First] Next Never,
    Isspacep "isspacep" Compute None [First] Next Never,
    Mapa "mapa" Compute None [First] Next Never,
    Getctarank "getctarank" Compute None [First] Next Never,
    Stacksave "stacksave" Compute None [First] Next Never,
    // Between the threads of a warp.
    Shfl "shfl" Compute None [First] Next Never,
    Vote "vote" Compute None [First] Next Never,
    Match "match" Compute None [First] Next Never,
    Activemask "activemask" Compute None [First] Next Never,
    Redux "redux" Compute None [First] Next Never,
    Elect "elect" Compute None [First] Next Never,
    Mma "mma" Compute None [First] Next Never,
    Movmatrix "movmatrix" Compute None [First] Next Never,
    // Queries of textures and surfaces.
    Istypep "istypep" Compute None [First] Next Never,
    Txq "txq" Compute None [First] Next Never,
    Suq "suq" Compute None [First] Next Never,
    // Loads and stores.
    Ld "ld" Load Load [First] Next IfOrdered,
    Ldu "ldu" Load Load [First] Next Never,
    St "st" Store Store [First] Next Never,
    // Atomics and reductions.
    Atom "atom" Memory Atomic [First] Next Always,
    Red "red" Memory Atomic [First] Next Never,
    Multimem "multimem" Memory Multimem [First] Next Never,
    // Asynchronous copies, barriers in shared memory, tensor maps.
    Cp "cp" Memory Copy [First] Next IfWaits,
    Mbarrier "mbarrier" Memory SharedWrite [First] Next Always,
    Tensormap "tensormap" Memory Tensormap [First] Next Never,
    // Caches.
    Prefetch "prefetch" Memory Hint [First] Next Never,
    Prefetchu "prefetchu" Memory Hint [First] Next Never,
    Applypriority "applypriority" Memory Hint [First] Next Never,
    Createpolicy "createpolicy" Memory Hint [First] Next Never,
    Discard "discard" Memory Discard [First] Next Never,
    // Matrices.
    Ldmatrix "ldmatrix" Memory SharedRead [First] Next Never,
    Stmatrix "stmatrix" Memory SharedWrite [First] Next Never,
    Wmma "wmma" Wmma Wmma [First] Next Never,
    Wgmma "wgmma" Memory SharedWrite [First] Next Never,
    Tcgen05 "tcgen05" Memory SharedWrite [FirstIf("ld")] Next Never,
    // Clusters.
    Clusterlaunchcontrol "clusterlaunchcontrol" Memory SharedWrite [First] Next Never,
    // Textures and surfaces.
    Tex "tex" TextureRead None [First] Next Never,
    Tld4 "tld4" TextureRead None [First] Next Never,
    Suld "suld" TextureRead None [First] Next Never,
    Sust "sust" TextureWrite None [First] Next Never,
    Sured "sured" TextureWrite None [First] Next Never,
    // Control.
    Call "call" Call None [First] Next Always,
    Bra "bra" Control None [Never] Jump Never,
    Brx "brx" Control None [Never] Jump Never,
    Ret "ret" Control None [Never] Leave Never,
    Exit "exit" Control None [Never] Leave Never,
    Trap "trap" Control None [Never] Leave Never,
    Brkpt "brkpt" Control None [Never] Next Never,
    Nanosleep "nanosleep" Control None [Never] Next Never,
    Pmevent "pmevent" Control None [Never] Next Never,
    Setmaxnreg "setmaxnreg" Control None [Never] Next Never,
    Stackrestore "stackrestore" Control None [Never] Next Never,
    // Barriers and fences.
    Bar "bar" Control None [FirstIf("red")] Next Always,
    Barrier "barrier" Control None [FirstIf("red")] Next Always,
    Membar "membar" Control None [Never] Next Always,
    Fence "fence" Fence Fence [Never] Next Always,
    Griddepcontrol "griddepcontrol" Control None [Never] Next Always,
    // Memory of the frame.
    Alloca "alloca" Alloca None [First] Next Never,
}
