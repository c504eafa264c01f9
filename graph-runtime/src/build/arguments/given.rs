//! The arguments of launches and calls that a graph builder makes. Their types are known only at run time, so
//! they are compared with the declaration here.
//!
//! The code that `#[kernels]` and `#[graph]` generate reads them through [`Given`], by the types of the
//! declaration. The first argument that does not fit is kept as a [`Misfit`].

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

use cuweave_core::index::narrow;
use cuweave_core::table::TableHandle;

use crate::error::Fault;
use crate::kernels::KernelItem;
use crate::kernels::mark::{Fits, Mark, OptionalMark};
use crate::statements::{Arguments, Dim, dim};
use crate::token::Token;

use super::body::Body;

/// A scalar with its type.
pub struct ScalarValue {
    /// The value in its own type. `None` for a computed number.
    exact: Option<Box<dyn ExactValue>>,
    number: Option<WideNumber>,
    /// The name of its type.
    ty: &'static str,
}

/// A number in the widest type of its class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WideNumber {
    /// An integer.
    Integer(i128),
    /// A float.
    Float(f64),
    /// An expression without a value, such as a division by zero.
    Faulty(Fault),
}

/// A value of any type that is `Copy`.
trait ExactValue: Any + Send + Sync {
    fn copied(&self) -> Box<dyn ExactValue>;
    fn any(&self) -> &dyn Any;
}

impl<T: Copy + Send + Sync + 'static> ExactValue for T {
    fn copied(&self) -> Box<dyn ExactValue> {
        Box::new(*self)
    }

    fn any(&self) -> &dyn Any {
        self
    }
}

impl Clone for ScalarValue {
    fn clone(&self) -> ScalarValue {
        ScalarValue { exact: self.exact.as_ref().map(|exact| (**exact).copied()), ..*self }
    }
}

impl fmt::Debug for ScalarValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalarValue")
            .field("type", &self.ty)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

macro_rules! integers {
    ($($ty:ty)*) => {
        fn integer(value: &dyn Any) -> Option<i128> {
            $(if let Some(&value) = value.downcast_ref::<$ty>() {
                return i128::try_from(value).ok();
            })*
            None
        }

        /// Calls `take` with the integer converted to `wanted`. Returns false if `wanted` is not an integer
        /// type or cannot represent it.
        fn with_integer(value: i128, wanted: TypeId, take: &mut dyn FnMut(&dyn Any)) -> bool {
            $(if wanted == TypeId::of::<$ty>() {
                return <$ty>::try_from(value).is_ok_and(|value| {
                    take(&value);
                    true
                });
            })*
            false
        }

        /// Returns the integer as a scalar of the type of `old`. `None` if that is not an integer type or cannot
        /// represent it.
        fn with_type_of(old: &dyn Any, value: u64) -> Option<ScalarValue> {
            $(if old.is::<$ty>() {
                return <$ty>::try_from(value).ok().map(ScalarValue::new);
            })*
            None
        }

        fn is_integer(ty: TypeId) -> bool {
            $(ty == TypeId::of::<$ty>())||*
        }
    };
}
integers!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);

/// Returns the nearest float of 32 bits.
#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "the result is compared with the value"
)]
fn nearest(value: f64) -> f32 {
    value as f32
}

/// Calls `take` with the float converted to `wanted`. Returns false if `wanted` is not a float type or cannot
/// represent it.
fn with_float(value: f64, wanted: TypeId, take: &mut dyn FnMut(&dyn Any)) -> bool {
    let narrow = nearest(value);
    if wanted == TypeId::of::<f64>() {
        take(&value);
    } else if wanted == TypeId::of::<f32>() && (value.is_nan() || f64::from(narrow) == value) {
        take(&narrow);
    } else {
        return false;
    }
    true
}

fn is_float(ty: TypeId) -> bool {
    ty == TypeId::of::<f32>() || ty == TypeId::of::<f64>()
}

impl ScalarValue {
    /// Returns a value that remembers its type, and its number if it is an integer or a float.
    pub fn new<T: Copy + Send + Sync + 'static>(value: T) -> ScalarValue {
        let float = |value: &dyn Any| match value.downcast_ref::<f32>() {
            Some(&value) => Some(f64::from(value)),
            None => value.downcast_ref::<f64>().copied(),
        };
        let number =
            integer(&value).map(WideNumber::Integer).or_else(|| float(&value).map(WideNumber::Float));
        ScalarValue { exact: Some(Box::new(value)), number, ty: type_name::<T>() }
    }

    /// Returns the value of an expression over integers.
    pub fn computed(value: Dim) -> ScalarValue {
        let number = match value.value() {
            Ok(value) => WideNumber::Integer(value.into()),
            Err(fault) => WideNumber::Faulty(fault),
        };
        ScalarValue { exact: None, number: Some(number), ty: "integer" }
    }

    /// Returns the value as a length or a bound. `None` if it is not an integer.
    pub fn dim(&self) -> Option<Dim> {
        match self.number {
            Some(WideNumber::Integer(value)) => Some(dim(value)),
            Some(WideNumber::Float(_) | WideNumber::Faulty(_)) | None => None,
        }
    }

    /// Returns the value as an unsigned integer. `None` if it is negative or not an integer.
    pub fn unsigned(&self) -> Option<u64> {
        self.dim()?.value().ok()
    }

    /// Returns a scalar of the same type with another value. `None` if the type cannot represent it.
    pub fn with_unsigned(&self, value: u64) -> Option<ScalarValue> {
        with_type_of((**self.exact.as_ref()?).any(), value)
    }

    /// Returns the text for messages: the number or `bool`, otherwise the name of the type.
    pub fn text(&self) -> String {
        match self.number {
            Some(WideNumber::Integer(value)) => value.to_string(),
            Some(WideNumber::Float(value)) => format!("{value:?}"),
            Some(WideNumber::Faulty(_)) | None => {
                let exact = self.exact.as_ref().and_then(|exact| (**exact).any().downcast_ref::<bool>());
                exact.map_or_else(|| self.ty.to_owned(), bool::to_string)
            }
        }
    }

    /// Returns the value as `T`: unchanged, or converted to another type of its class that represents it
    /// exactly.
    fn get<T: Copy + 'static>(&self) -> std::result::Result<T, Misfit> {
        if let Some(value) = self.exact.as_ref().and_then(|exact| (**exact).any().downcast_ref::<T>()) {
            return Ok(*value);
        }
        let mut found = None;
        let declared = type_name::<T>();
        self.with_number(TypeId::of::<T>(), declared, &mut |value| {
            found = value.downcast_ref::<T>().copied()
        })?;
        found.ok_or(Misfit::Scalar { declared, given: self.ty })
    }

    /// Calls `take` with the number converted to another type of its class.
    fn with_number(
        &self,
        wanted: TypeId,
        declared: &'static str,
        take: &mut dyn FnMut(&dyn Any),
    ) -> std::result::Result<(), Misfit> {
        let taken = match self.number {
            Some(WideNumber::Integer(value)) if is_integer(wanted) => with_integer(value, wanted, take),
            Some(WideNumber::Float(value)) if is_float(wanted) => with_float(value, wanted, take),
            Some(WideNumber::Faulty(fault)) if is_integer(wanted) => return Err(Misfit::Fault(fault)),
            _ => return Err(Misfit::Scalar { declared, given: self.ty }),
        };
        if taken { Ok(()) } else { Err(Misfit::Number { value: self.text(), declared }) }
    }
}

/// A host value that the graph shares.
#[derive(Clone)]
pub struct SharedValue {
    /// An `Arc` of the value.
    value: Arc<dyn Any + Send + Sync>,
    /// The name of the value's type.
    ty: &'static str,
}

impl SharedValue {
    /// Returns the value with its type erased.
    pub fn new<T: ?Sized + Send + Sync + 'static>(value: Arc<T>) -> SharedValue {
        SharedValue { value: Arc::new(value), ty: type_name::<T>() }
    }

    /// Returns the text for messages.
    pub fn text(&self) -> String {
        format!("Arc<{}>", self.ty)
    }
}

impl fmt::Debug for SharedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedValue").field("type", &self.ty).finish_non_exhaustive()
    }
}

/// An argument of a launch or a call.
#[derive(Debug)]
pub enum GivenArgument {
    /// A buffer, by the type of its elements.
    Buffer(TypeId, &'static str),
    /// No buffer, for an optional parameter.
    Nothing,
    /// A scalar.
    Value(ScalarValue),
    /// A host value.
    Host(SharedValue),
}

/// The reason why an argument does not fit its parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// A buffer has elements of another type.
    Element {
        /// The declared type.
        declared: &'static str,
        /// The type of the buffer's elements.
        given: &'static str,
    },
    /// A scalar or a host value is of another type.
    Scalar {
        /// The declared type.
        declared: &'static str,
        /// Its type.
        given: &'static str,
    },
    /// The declared type cannot represent a number.
    Number {
        /// The number.
        value: String,
        /// The declared type.
        declared: &'static str,
    },
    /// An expression has no value.
    Fault(Fault),
    /// A buffer, a scalar or a host value where one of the others is declared.
    Kind,
    /// The parameter has no argument.
    Missing,
}

/// An argument that does not fit.
#[derive(Debug)]
pub(crate) struct MisfitArgument {
    pub index: usize,
    pub misfit: Misfit,
}

/// The arguments of a launch or a call, in the order of the parameters.
#[derive(Debug)]
pub struct ArgumentReader<'g> {
    arguments: &'g [GivenArgument],
    /// The first argument that does not fit.
    misfit: Option<MisfitArgument>,
}

/// A buffer whose type is checked.
#[derive(Debug)]
pub struct TypedBuffer {
    access: u32,
}

impl Mark for TypedBuffer {
    fn access(&self) -> u32 {
        self.access
    }
}

impl<P> Fits<P> for TypedBuffer {}

/// An optional buffer whose type is checked.
#[derive(Debug)]
pub struct OptionalTypedBuffer(Option<TypedBuffer>);

impl OptionalMark for OptionalTypedBuffer {
    type Given = TypedBuffer;

    fn given(self) -> Option<TypedBuffer> {
        self.0
    }
}

impl<'g> ArgumentReader<'g> {
    pub(crate) fn new(arguments: &'g [GivenArgument]) -> ArgumentReader<'g> {
        ArgumentReader { arguments, misfit: None }
    }

    /// Returns the first argument that does not fit its parameter.
    pub(crate) fn misfit(self) -> Option<MisfitArgument> {
        self.misfit
    }

    fn refuse<T>(&mut self, index: usize, misfit: Misfit) -> Option<T> {
        self.misfit.get_or_insert(MisfitArgument { index, misfit });
        None
    }

    /// Returns argument `index` as a scalar. `None` if it does not fit.
    pub fn scalar<T: Copy + 'static>(&mut self, index: usize) -> Option<T> {
        match self.arguments.get(index) {
            Some(GivenArgument::Value(value)) => match value.get() {
                Ok(value) => Some(value),
                Err(misfit) => self.refuse(index, misfit),
            },
            Some(GivenArgument::Buffer(..) | GivenArgument::Nothing | GivenArgument::Host(_)) => {
                self.refuse(index, Misfit::Kind)
            }
            None => self.refuse(index, Misfit::Missing),
        }
    }

    /// Returns argument `index` as a host value of type `T`. `None` if it does not fit.
    pub fn host<T: ?Sized + 'static>(&mut self, index: usize) -> Option<&'g Arc<T>> {
        match self.arguments.get(index) {
            Some(GivenArgument::Host(SharedValue { value, ty })) => {
                let misfit = Misfit::Scalar { declared: type_name::<T>(), given: ty };
                (**value).downcast_ref().or_else(|| self.refuse(index, misfit))
            }
            Some(GivenArgument::Buffer(..) | GivenArgument::Nothing | GivenArgument::Value(_)) => {
                self.refuse(index, Misfit::Kind)
            }
            None => self.refuse(index, Misfit::Missing),
        }
    }

    /// Returns argument `index` as a buffer with elements of type `T`. `None` if it does not fit.
    pub fn buffer<T: 'static>(&mut self, index: usize) -> Option<TypedBuffer> {
        match self.arguments.get(index) {
            Some(&GivenArgument::Buffer(element, given)) if element != TypeId::of::<T>() => {
                self.refuse(index, Misfit::Element { declared: type_name::<T>(), given })
            }
            Some(GivenArgument::Buffer(..)) => {
                let buffers = self.arguments[..index].iter();
                let before = buffers.filter(|argument| matches!(argument, GivenArgument::Buffer(..))).count();
                Some(TypedBuffer { access: narrow(before) })
            }
            Some(GivenArgument::Value(_) | GivenArgument::Nothing | GivenArgument::Host(_)) => {
                self.refuse(index, Misfit::Kind)
            }
            None => self.refuse(index, Misfit::Missing),
        }
    }

    /// Returns argument `index` as an optional buffer with elements of type `T`. `None` if it does not fit.
    pub fn optional_buffer<T: 'static>(&mut self, index: usize) -> Option<OptionalTypedBuffer> {
        match self.arguments.get(index) {
            Some(GivenArgument::Nothing) => Some(OptionalTypedBuffer(None)),
            _ => self.buffer::<T>(index).map(|typed| OptionalTypedBuffer(Some(typed))),
        }
    }
}

/// The item of a kernel. A builder launches it as `nn::gelu {}`. `#[kernels]` implements it, and nothing else
/// can.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "a launch takes the item of a kernel that a `#[kernels]` block declares: `nn::gelu {{}}`"
)]
pub trait LaunchedItem: KernelItem {
    /// Returns the arguments in the order of the kernel's declaration. `None` if one does not fit.
    #[doc(hidden)]
    fn arguments(given: &mut ArgumentReader<'_>, token: Token) -> Option<Arguments>;
}

/// The item of a graph function. A builder calls it as `layer::layer {}`. `#[graph]` implements it, and nothing
/// else can.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a graph function that can be called",
    label = "a call takes the item of a graph function: `layer::layer {{}}`",
    note = "a builder calls functions of scalars, buffers and host values `&T`, without records, lists and `&mut T`"
)]
pub trait CalledItem {
    /// Returns the function's table.
    #[doc(hidden)]
    fn table(token: Token) -> Option<TableHandle>;

    /// Calls `enter` with the body of the function. Returns `None` without the call if an argument does not
    /// fit.
    #[doc(hidden)]
    fn enter(given: &mut ArgumentReader<'_>, enter: &mut dyn FnMut(&dyn Body), token: Token) -> Option<()>;
}
