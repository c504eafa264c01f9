//! The names of the 96 kernels of benches/kernels/different.cu.

#[allow(unused_macros)]
/// Expands a macro with the name and the index of the first 48 kernels, or of all 96.
macro_rules! each_different {
    ($expand:ident 48 $($more:tt)*) => {
        $expand!(
            different_0 0 different_1 1 different_2 2 different_3 3 different_4 4 different_5 5
            different_6 6 different_7 7 different_8 8 different_9 9 different_10 10 different_11 11
            different_12 12 different_13 13 different_14 14 different_15 15 different_16 16 different_17 17
            different_18 18 different_19 19 different_20 20 different_21 21 different_22 22 different_23 23
            different_24 24 different_25 25 different_26 26 different_27 27 different_28 28 different_29 29
            different_30 30 different_31 31 different_32 32 different_33 33 different_34 34 different_35 35
            different_36 36 different_37 37 different_38 38 different_39 39 different_40 40 different_41 41
            different_42 42 different_43 43 different_44 44 different_45 45 different_46 46 different_47 47
            $($more)*
        );
    };
    ($expand:ident 96) => {
        each_different!($expand 48
            different_48 48 different_49 49 different_50 50 different_51 51 different_52 52 different_53 53
            different_54 54 different_55 55 different_56 56 different_57 57 different_58 58 different_59 59
            different_60 60 different_61 61 different_62 62 different_63 63 different_64 64 different_65 65
            different_66 66 different_67 67 different_68 68 different_69 69 different_70 70 different_71 71
            different_72 72 different_73 73 different_74 74 different_75 75 different_76 76 different_77 77
            different_78 78 different_79 79 different_80 80 different_81 81 different_82 82 different_83 83
            different_84 84 different_85 85 different_86 86 different_87 87 different_88 88 different_89 89
            different_90 90 different_91 91 different_92 92 different_93 93 different_94 94 different_95 95
        );
    };
}
