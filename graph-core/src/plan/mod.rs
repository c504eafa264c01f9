//! Memory: bounds, offsets and budgets on a partial order.
