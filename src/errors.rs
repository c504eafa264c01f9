//! The error codes: one page each, with a wrong program, what the compiler says to it, and a right one.

macro_rules! pages {
    ($($code:ident: $page:literal;)*) => {$(
        #[doc = include_str!(concat!("../docs/errors/", $page, ".md"))]
        pub mod $code {}
    )*};
}

pages! {
    cw001: "CW001";
    cw101: "CW101";
    cw102: "CW102";
    cw103: "CW103";
    cw104: "CW104";
    cw105: "CW105";
    cw106: "CW106";
    cw107: "CW107";
    cw201: "CW201";
    cw202: "CW202";
    cw203: "CW203";
    cw204: "CW204";
    cw205: "CW205";
    cw206: "CW206";
    cw301: "CW301";
    cw302: "CW302";
    cw303: "CW303";
    cw304: "CW304";
    cw305: "CW305";
    cw306: "CW306";
    cw307: "CW307";
    cw308: "CW308";
    cw309: "CW309";
}
