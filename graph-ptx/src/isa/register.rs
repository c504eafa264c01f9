//! The table of special registers.

macro_rules! registers {
    ($($name:ident $text:literal,)* ; $($family:ident $prefix:literal,)*) => {
        /// Special registers, without their components.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Register {
            $(#[doc = concat!("`", $text, "`")] $name,)*
            $(#[doc = concat!("All that begin with `", $prefix, "`")] $family,)*
        }

        /// Returns the special register of a name, with or without a component: `%tid.x`. `None` if it is not known.
        pub fn register(name: &str) -> Option<Register> {
            let base = name.split_once('.').map_or(name, |(base, _)| base);
            match base {
                $($text => Some(Register::$name),)*
                $(_ if base.starts_with($prefix) => Some(Register::$family),)*
                _ => None,
            }
        }
    };
}

registers! {
    Tid "%tid",
    Ntid "%ntid",
    Ctaid "%ctaid",
    Nctaid "%nctaid",
    Laneid "%laneid",
    Warpid "%warpid",
    Nwarpid "%nwarpid",
    Smid "%smid",
    Nsmid "%nsmid",
    LanemaskEq "%lanemask_eq",
    LanemaskLe "%lanemask_le",
    LanemaskLt "%lanemask_lt",
    LanemaskGe "%lanemask_ge",
    LanemaskGt "%lanemask_gt",
    Clock "%clock",
    ClockHi "%clock_hi",
    Clock64 "%clock64",
    Globaltimer "%globaltimer",
    GlobaltimerLo "%globaltimer_lo",
    GlobaltimerHi "%globaltimer_hi",
    DynamicSmemSize "%dynamic_smem_size",
    TotalSmemSize "%total_smem_size",
    AggrSmemSize "%aggr_smem_size",
    Clusterid "%clusterid",
    Nclusterid "%nclusterid",
    IsExplicitCluster "%is_explicit_cluster",
    ;
    Environment "%envreg",
    Cluster "%cluster_",
    PerformanceMonitor "%pm",
    ReservedSmem "%reserved_smem_offset_",
}

/// Returns the number of a component: 0 for `.x` and `.r` to 3 for `.w` and `.a`. `None` for other names.
pub fn component(name: &str) -> Option<usize> {
    let (_, component) = name.split_once('.')?;
    match component {
        "x" | "r" => Some(0),
        "y" | "g" => Some(1),
        "z" | "b" => Some(2),
        "w" | "a" => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_found_with_and_without_a_component() {
        assert_eq!(register("%ctaid.x"), Some(Register::Ctaid));
        assert_eq!(register("%nctaid"), Some(Register::Nctaid));
        assert_eq!(register("%envreg2"), Some(Register::Environment));
        assert_eq!(register("%cluster_ctaid.y"), Some(Register::Cluster));
        assert_eq!(register("%ctaidx"), None);
        assert_eq!((component("%tid.z"), component("%tid"), component("%tid.q")), (Some(2), None, None));
    }
}
