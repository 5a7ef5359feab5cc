// A file of which no program calls anything: the linker never opens it.
namespace lehr::planted {

struct Unused {
  explicit Unused(int value);
  int value() const;
  int value_;
};
Unused::Unused(int value) : value_(value) {}
int Unused::value() const {
  return value_;
}

}  // namespace lehr::planted
