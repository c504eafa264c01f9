// Written by the test `the_programs_are_those_of_the_generator`.

mod part0;
mod part1;
mod part2;
mod part3;
mod part4;
mod part5;
mod part6;
mod part7;
mod part8;

pub fn all() {
part0::all();
part1::all();
part2::all();
part3::all();
part4::all();
part5::all();
part6::all();
part7::all();
part8::all();
}
