//! Whole numbers of the model in the smaller types of the engine.

/// A number in a smaller type; the check of a document, or the memory of a machine, has seen to it that it fits.
/// Were that ever wrong, this stops, where a cast would go on with another number.
pub fn fitting<T, N>(number: T) -> N
where
    T: Copy + std::fmt::Display,
    N: TryFrom<T>,
{
    N::try_from(number).unwrap_or_else(|_| panic!("{number} does not fit into its place"))
}
