//! The table of opcodes: one row per opcode, with all columns.
//!
//! A macro generates the enum, its mnemonics and [`row`] from the table. Opcodes that are missing here parse as
//! [`Opcode::Unknown`], whose row is conservative.

use super::columns::{
    Addresses, ControlFlow, Defines, EffectClass, HiddenEffect, Operation, SpaceSource, Synchronises, Yields,
};

/// A row of the table: the properties of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpcodeRow {
    /// Its effect on memory.
    pub effect: EffectClass,
    /// The accesses through its address operands.
    pub addresses: Addresses,
    /// The state space of its address operands.
    pub space: SpaceSource,
    /// Its definitions.
    pub defines: Defines,
    /// The function that computes its result.
    pub operation: Operation,
    /// The origin of its result.
    pub yields: Yields,
    /// Its effect on control flow.
    pub flow: ControlFlow,
    /// Its effect on the visibility of other threads' writes.
    pub synchronises: Synchronises,
    /// Its effect that no operand shows.
    pub hidden: HiddenEffect,
}

macro_rules! opcodes {
    ($($name:ident $text:literal $effect:ident $addresses:ident $space:ident [$($defines:tt)*] [$($operation:tt)*]
       $yields:ident $flow:ident $sync:ident [$($hidden:tt)*],)*) => {
        /// The opcodes of PTX, without their modifiers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Opcode {
            $(#[doc = concat!("`", $text, "`")] $name,)*
            /// One that is not in the table.
            Unknown,
        }

        impl Opcode {
            /// All opcodes of the table, in its order.
            pub const ALL: &[Opcode] = &[$(Opcode::$name),*];

            /// Returns the opcode of a mnemonic such as `ld`.
            pub fn from_mnemonic(mnemonic: &str) -> Opcode {
                match mnemonic { $($text => Opcode::$name,)* _ => Opcode::Unknown }
            }

            /// Returns the mnemonic. `None` for [`Opcode::Unknown`].
            pub fn mnemonic(self) -> Option<&'static str> {
                match self { $(Opcode::$name => Some($text),)* Opcode::Unknown => None }
            }
        }

        /// Returns the properties of an opcode.
        pub const fn row(opcode: Opcode) -> OpcodeRow {
            use super::columns::{
                Arithmetic::*, Bitwise::*, Comparison::*, Float::*, Opaque::*, Selection::*,
            };
            match opcode {
                $(Opcode::$name => OpcodeRow {
                    effect: EffectClass::$effect,
                    addresses: Addresses::$addresses,
                    space: SpaceSource::$space,
                    defines: Defines::$($defines)*,
                    operation: Operation::$($operation)*,
                    yields: Yields::$yields,
                    flow: ControlFlow::$flow,
                    synchronises: Synchronises::$sync,
                    hidden: HiddenEffect::$($hidden)*,
                },)*
                Opcode::Unknown => OpcodeRow {
                    effect: EffectClass::Unknown,
                    addresses: Addresses::Unknown,
                    space: SpaceSource::Named,
                    defines: Defines::Accumulates,
                    operation: Operation::None,
                    yields: Yields::Unknown,
                    flow: ControlFlow::Next,
                    synchronises: Synchronises::Always,
                    hidden: HiddenEffect::Unknown,
                },
            }
        }
    };
}

opcodes! {
    // Name, mnemonic, effect, addresses, space, definitions, operation, result, control flow, visibility, hidden.

    // Integer and floating-point arithmetic.
    Add "add" Compute None None [First] [Arithmetic(Add)] Computed Next Never [SetsCarry],
    Sub "sub" Compute None None [First] [Arithmetic(Sub)] Computed Next Never [SetsCarry],
    Mad "mad" Compute None None [First] [Arithmetic(Mad)] Computed Next Never [SetsCarry],
    Mul "mul" Compute None None [First] [Arithmetic(Mul)] Computed Next Never [None],
    Mul24 "mul24" Compute None None [First] [Opaque(Integer)] Computed Next Never [None],
    Mad24 "mad24" Compute None None [First] [Opaque(Integer)] Computed Next Never [None],
    Fma "fma" Compute None None [First] [Float(Fma)] Computed Next Never [None],
    Abs "abs" Compute None None [First] [Arithmetic(Abs)] Computed Next Never [None],
    Neg "neg" Compute None None [First] [Arithmetic(Neg)] Computed Next Never [None],
    Min "min" Compute None None [First] [Arithmetic(Min)] Computed Next Never [None],
    Max "max" Compute None None [First] [Arithmetic(Max)] Computed Next Never [None],
    Div "div" Compute None None [First] [Arithmetic(Div)] Computed Next Never [None],
    Rem "rem" Compute None None [First] [Arithmetic(Rem)] Computed Next Never [None],
    Sad "sad" Compute None None [First] [Opaque(Integer)] Computed Next Never [None],
    Addc "addc" Compute None None [First] [Opaque(Integer)] Computed Next Never [ReadsCarry],
    Subc "subc" Compute None None [First] [Opaque(Integer)] Computed Next Never [ReadsCarry],
    Madc "madc" Compute None None [First] [Opaque(Integer)] Computed Next Never [ReadsCarry],
    Add3 "add3" Compute None None [First] [Opaque(Integer)] Computed Next Never [None],
    Rcp "rcp" Compute None None [First] [Float(Transcendental)] Computed Next Never [None],
    Sqrt "sqrt" Compute None None [First] [Float(Transcendental)] Computed Next Never [None],
    Rsqrt "rsqrt" Compute None None [First] [Float(Transcendental)] Computed Next Never [None],
    Sin "sin" Compute None None [First] [Float(Transcendental)] Computed Next Never [None],
    Cos "cos" Compute None None [First] [Float(Transcendental)] Computed Next Never [None],
    Lg2 "lg2" Compute None None [First] [Float(Transcendental)] Computed Next Never [None],
    Ex2 "ex2" Compute None None [First] [Float(Transcendental)] Computed Next Never [None],
    Tanh "tanh" Compute None None [First] [Float(Transcendental)] Computed Next Never [None],
    Copysign "copysign" Compute None None [First] [Float(Copysign)] Computed Next Never [None],
    Testp "testp" Compute None None [First] [Comparison(Test)] Computed Next Never [None],
    Dp4a "dp4a" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Dp2a "dp2a" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    // Comparison and selection.
    Setp "setp" Compute None None [First] [Comparison(ToPredicate)] Computed Next Never [None],
    Set "set" Compute None None [First] [Comparison(ToNumber)] Computed Next Never [None],
    Selp "selp" Compute None None [First] [Selection(ByPredicate)] Computed Next Never [None],
    Slct "slct" Compute None None [First] [Selection(BySign)] Computed Next Never [None],
    // Bits.
    Shl "shl" Compute None None [First] [Bitwise(Shl)] Computed Next Never [None],
    Shr "shr" Compute None None [First] [Bitwise(Shr)] Computed Next Never [None],
    And "and" Compute None None [First] [Bitwise(And)] Computed Next Never [None],
    Or "or" Compute None None [First] [Bitwise(Or)] Computed Next Never [None],
    Xor "xor" Compute None None [First] [Bitwise(Xor)] Computed Next Never [None],
    Not "not" Compute None None [First] [Bitwise(Not)] Computed Next Never [None],
    Bfe "bfe" Compute None None [First] [Bitwise(ExtractField)] Computed Next Never [None],
    Bfi "bfi" Compute None None [First] [Bitwise(InsertField)] Computed Next Never [None],
    Bfind "bfind" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Bmsk "bmsk" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Brev "brev" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Popc "popc" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Clz "clz" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Cnot "cnot" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Fns "fns" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Lop3 "lop3" Compute None None [First] [Bitwise(Logic3)] Computed Next Never [None],
    Shf "shf" Compute None None [First] [Bitwise(FunnelShift)] Computed Next Never [None],
    Prmt "prmt" Compute None None [First] [Bitwise(Permute)] Computed Next Never [None],
    Szext "szext" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    // Video instructions.
    Vadd "vadd" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vsub "vsub" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vabsdiff "vabsdiff" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vmin "vmin" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vmax "vmax" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vshl "vshl" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vshr "vshr" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vmad "vmad" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vset "vset" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vadd2 "vadd2" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vsub2 "vsub2" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vavrg2 "vavrg2" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vabsdiff2 "vabsdiff2" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vmin2 "vmin2" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vmax2 "vmax2" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vset2 "vset2" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vadd4 "vadd4" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vsub4 "vsub4" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vavrg4 "vavrg4" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vabsdiff4 "vabsdiff4" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vmin4 "vmin4" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vmax4 "vmax4" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Vset4 "vset4" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    // Moves, conversions and addresses.
    Mov "mov" Compute None None [First] [Move] Computed Next Never [None],
    Cvt "cvt" Compute None None [First] [Convert] Computed Next Never [None],
    Cvta "cvta" Compute None None [First] [Address] Computed Next Never [ConstantWindow],
    Isspacep "isspacep" Compute None None [First] [Comparison(Test)] Computed Next Never [None],
    Mapa "mapa" Compute None None [First] [SharedAddress] Computed Next Never [None],
    Getctarank "getctarank" Compute None None [First] [Opaque(Other)] Computed Next Never [None],
    Stacksave "stacksave" Compute None None [First] [None] Computed Next Never [None],
    // Between the threads of a warp.
    Shfl "shfl" Compute None None [First] [Opaque(Shuffle)] Exchanged Next Never [None],
    Vote "vote" Compute None None [First] [Comparison(Test)] Voted Next Never [None],
    Match "match" Compute None None [First] [Opaque(Other)] Voted Next Never [None],
    Activemask "activemask" Compute None None [First] [Comparison(Test)] Voted Next Never [None],
    Redux "redux" Compute None None [First] [Opaque(Integer)] Voted Next Never [None],
    Elect "elect" Compute None None [First] [Comparison(Test)] Voted Next Never [None],
    Mma "mma" Compute None None [First] [Opaque(MatrixProduct)] Computed Next Never [None],
    Movmatrix "movmatrix" Compute None None [First] [Opaque(Other)] Exchanged Next Never [None],
    // Queries of textures and surfaces.
    Istypep "istypep" Compute None None [First] [Opaque(Other)] Computed Next Never [Texture],
    Txq "txq" Compute None None [First] [Opaque(Other)] Computed Next Never [Texture],
    Suq "suq" Compute None None [First] [Opaque(Other)] Computed Next Never [Texture],
    // Loads and stores.
    Ld "ld" Load Load Named [First] [None] Loaded Next IfOrdered [None],
    Ldu "ldu" Load Load Named [First] [None] Fixed Next Never [None],
    St "st" Store Store NamedUnlessAsync [Never] [None] Nothing Next Never [None],
    // Atomics and reductions.
    Atom "atom" Memory Update Named [First] [None] Observed Next Always [None],
    Red "red" Memory Update NamedUnlessAsync [Never] [None] Nothing Next Never [None],
    Multimem "multimem" Memory Multimem Named [First] [None] Observed Next IfOrdered [None],
    // Asynchronous copies, barriers in shared memory, tensor maps.
    Cp "cp" Memory Copy ByForm [Never] [None] Nothing Next IfWaits [None],
    Mbarrier "mbarrier" Memory Write Shared [First] [None] Phase Next Always [None],
    Tensormap "tensormap" Memory Tensormap ByForm [Never] [None] Nothing Next Never [None],
    // Caches.
    Prefetch "prefetch" Memory Hint Named [Never] [None] Nothing Next Never [None],
    Prefetchu "prefetchu" Memory Hint Named [Never] [None] Nothing Next Never [None],
    Applypriority "applypriority" Memory Hint Named [Never] [None] Nothing Next Never [None],
    Createpolicy "createpolicy" Memory Hint Named [First] [None] Computed Next Never [None],
    Discard "discard" Memory Write Named [Never] [None] Nothing Next Never [None],
    // Matrices.
    Ldmatrix "ldmatrix" Memory Read Shared [First] [None] Loaded Next Never [None],
    Stmatrix "stmatrix" Memory Write Shared [Never] [None] Nothing Next Never [None],
    Wmma "wmma" Wmma Wmma Named [First] [None] Loaded Next Never [None],
    Wgmma "wgmma" Memory Write Shared [Accumulates] [Opaque(MatrixProduct)] Computed Next Never [None],
    Tcgen05 "tcgen05" Memory Write Shared [FirstIf("ld")] [None] Loaded Next Never [None],
    // Clusters.
    Clusterlaunchcontrol "clusterlaunchcontrol" Memory Write Shared [First] [None] Computed Next Never [Cluster],
    // Textures and surfaces.
    Tex "tex" TextureRead None None [First] [None] Fixed Next Never [Texture],
    Tld4 "tld4" TextureRead None None [First] [None] Fixed Next Never [Texture],
    Suld "suld" TextureRead None None [First] [None] Fixed Next Never [Texture],
    Sust "sust" TextureWrite None None [Never] [None] Nothing Next Never [Texture],
    Sured "sured" TextureWrite None None [Never] [None] Nothing Next Never [Texture],
    // Control.
    Call "call" Call None None [First] [None] Returned Next Always [None],
    Bra "bra" Control None None [Never] [None] Nothing Branch Never [None],
    Brx "brx" Control None None [Never] [None] Nothing Table Never [None],
    Ret "ret" Control None None [Never] [None] Nothing Return Never [None],
    Exit "exit" Control None None [Never] [None] Nothing Exit Never [None],
    Trap "trap" Control None None [Never] [None] Nothing Trap Never [None],
    Brkpt "brkpt" Control None None [Never] [None] Nothing Next Never [None],
    Nanosleep "nanosleep" Control None None [Never] [None] Nothing Next Never [Sleeps],
    Pmevent "pmevent" Control None None [Never] [None] Nothing Next Never [None],
    Setmaxnreg "setmaxnreg" Control None None [Never] [None] Nothing Next Never [None],
    Stackrestore "stackrestore" Control None None [Never] [None] Nothing Next Never [None],
    // Barriers and fences.
    Bar "bar" Control None None [FirstIf("red")] [None] Voted Next Always [None],
    Barrier "barrier" Control None None [FirstIf("red")] [None] Voted Next Always [ClusterIf("cluster")],
    Membar "membar" Control None None [Never] [None] Nothing Next Fence [None],
    Fence "fence" Fence Read Named [Never] [None] Nothing Next Fence [None],
    Griddepcontrol "griddepcontrol" Control None None [Never] [None] Nothing Next Always [Grids],
    // Memory of the frame.
    Alloca "alloca" Alloca None None [First] [None] Computed Next Never [None],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_lead_to_their_rows() {
        for &opcode in Opcode::ALL {
            assert_eq!(opcode.mnemonic().map(Opcode::from_mnemonic), Some(opcode));
        }
        assert_eq!((Opcode::from_mnemonic("made"), Opcode::Unknown.mnemonic()), (Opcode::Unknown, None));
    }

    #[test]
    fn the_columns_of_a_row_agree() {
        for &opcode in Opcode::ALL {
            let row = row(opcode);
            assert_eq!(row.addresses == Addresses::None, row.space == SpaceSource::None, "{opcode:?}");
            assert_eq!(row.defines == Defines::Never, row.yields == Yields::Nothing, "{opcode:?}");
            let computes = matches!(row.yields, Yields::Computed | Yields::Exchanged | Yields::Voted);
            assert!(row.operation == Operation::None || computes, "{opcode:?}");
            assert!(row.flow == ControlFlow::Next || row.effect == EffectClass::Control, "{opcode:?}");
            let touches = !matches!(
                row.effect,
                EffectClass::Compute | EffectClass::Call | EffectClass::Control | EffectClass::Alloca
            );
            let by_handle = matches!(row.effect, EffectClass::TextureRead | EffectClass::TextureWrite);
            assert_eq!(row.addresses != Addresses::None, touches && !by_handle, "{opcode:?}");
        }
    }
}
