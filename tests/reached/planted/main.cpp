// The program that is linked of the planted files.
namespace lehr::planted {
int called(int value);
}

int main(int count, char**) {
  return lehr::planted::called(count);
}
