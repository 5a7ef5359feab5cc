// A file of which a program calls one function.
namespace lehr::planted {

int called(int value) {
  return value + 1;
}
int never_called(int value) {
  return value + 2;
}
int offered(int value) {
  return value + 3;
}

}  // namespace lehr::planted
