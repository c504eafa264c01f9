//! The table of special registers: their relation to the thread, and their value in a batch.
//!
//! A macro generates the enum, its names and the lookups.

/// The relation of a special register to the thread and the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadRelation {
    /// The index of a thread in its block.
    ThreadIndex,
    /// The size of a block.
    BlockSize,
    /// The index of a block in the grid.
    BlockIndex,
    /// The size of the grid.
    GridSize,
    /// The lane of a thread in its warp.
    Lane,
    /// Any other register. Its value may differ between threads.
    Other,
}

/// The value of a special register in a launch that batches several launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchValue {
    /// The same as in a separate launch.
    Same,
    /// The value of the batch's grid. Rewriting replaces it by the member's value.
    Grid,
    /// Defined only in cooperative launches.
    Cooperative,
    /// Defined only in clusters.
    Cluster,
    /// Different from a separate launch, and not replaceable.
    Differs,
}

macro_rules! registers {
    ($($name:ident $text:literal $threads:ident $batch:ident,)* ;
     $($family:ident $prefix:literal $of_threads:ident $of_batch:ident,)*) => {
        /// Special registers, without their components.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SpecialRegister {
            $(#[doc = concat!("`", $text, "`")] $name,)*
            $(#[doc = concat!("All that begin with `", $prefix, "`, apart from those above")] $family,)*
        }

        impl SpecialRegister {
            /// Returns its relation to the thread and the launch.
            pub const fn threads(self) -> ThreadRelation {
                match self {
                    $(SpecialRegister::$name => ThreadRelation::$threads,)*
                    $(SpecialRegister::$family => ThreadRelation::$of_threads,)*
                }
            }

            /// Returns its value in a launch that batches several launches.
            pub const fn in_batch(self) -> BatchValue {
                match self {
                    $(SpecialRegister::$name => BatchValue::$batch,)*
                    $(SpecialRegister::$family => BatchValue::$of_batch,)*
                }
            }
        }

        /// Returns the special register of a name, with or without a component such as `%tid.x`. `None` if the name
        /// is unknown.
        pub fn register(name: &str) -> Option<SpecialRegister> {
            let base = name.split_once('.').map_or(name, |(base, _)| base);
            match base {
                $($text => Some(SpecialRegister::$name),)*
                $(_ if base.starts_with($prefix) => Some(SpecialRegister::$family),)*
                _ => None,
            }
        }

        /// Returns the number of a register of a family, such as 2 for `%envreg2`. `None` for other names.
        pub fn number(name: &str) -> Option<u32> {
            $(if let Some(number) = name.strip_prefix($prefix) { return number.parse().ok(); })*
            None
        }
    };
}

registers! {
    // Name, text, relation to the thread, value in a batch.
    Tid "%tid" ThreadIndex Same,
    Ntid "%ntid" BlockSize Same,
    Ctaid "%ctaid" BlockIndex Grid,
    Nctaid "%nctaid" GridSize Grid,
    Laneid "%laneid" Lane Same,
    Warpid "%warpid" Other Same,
    Nwarpid "%nwarpid" Other Same,
    Smid "%smid" Other Same,
    Nsmid "%nsmid" Other Same,
    Gridid "%gridid" Other Differs,
    LanemaskEq "%lanemask_eq" Other Same,
    LanemaskLe "%lanemask_le" Other Same,
    LanemaskLt "%lanemask_lt" Other Same,
    LanemaskGe "%lanemask_ge" Other Same,
    LanemaskGt "%lanemask_gt" Other Same,
    Clock "%clock" Other Same,
    ClockHi "%clock_hi" Other Same,
    Clock64 "%clock64" Other Same,
    Globaltimer "%globaltimer" Other Same,
    GlobaltimerLo "%globaltimer_lo" Other Same,
    GlobaltimerHi "%globaltimer_hi" Other Same,
    DynamicSmemSize "%dynamic_smem_size" Other Same,
    TotalSmemSize "%total_smem_size" Other Same,
    AggrSmemSize "%aggr_smem_size" Other Same,
    ReservedSmemCap "%reserved_smem_offset_cap" Other Same,
    ReservedSmemEnd "%reserved_smem_offset_end" Other Same,
    CurrentGraphExec "%current_graph_exec" Other Differs,
    Clusterid "%clusterid" Other Cluster,
    Nclusterid "%nclusterid" Other Cluster,
    ClusterCtaid "%cluster_ctaid" Other Cluster,
    ClusterNctaid "%cluster_nctaid" Other Cluster,
    ClusterCtarank "%cluster_ctarank" Other Cluster,
    ClusterNctarank "%cluster_nctarank" Other Cluster,
    IsExplicitCluster "%is_explicit_cluster" Other Cluster,
    ;
    Environment "%envreg" Other Cooperative,
    PerformanceMonitor "%pm" Other Same,
    ReservedSmem "%reserved_smem_offset_" Other Same,
}

/// Returns the index of a component: 0 for `.x` and `.r`, up to 3 for `.w` and `.a`. `None` for other names.
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
        assert_eq!(register("%ctaid.x"), Some(SpecialRegister::Ctaid));
        assert_eq!(register("%nctaid"), Some(SpecialRegister::Nctaid));
        assert_eq!(register("%envreg2"), Some(SpecialRegister::Environment));
        assert_eq!(register("%reserved_smem_offset_1"), Some(SpecialRegister::ReservedSmem));
        assert_eq!(register("%reserved_smem_offset_end"), Some(SpecialRegister::ReservedSmemEnd));
        assert_eq!(register("%cluster_ctaid.y"), Some(SpecialRegister::ClusterCtaid));
        assert_eq!(register("%ctaidx"), None);
        assert_eq!((component("%tid.z"), component("%tid"), component("%tid.q")), (Some(2), None, None));
        assert_eq!((number("%envreg31"), number("%envreg"), number("%tid")), (Some(31), None, None));
    }
}
