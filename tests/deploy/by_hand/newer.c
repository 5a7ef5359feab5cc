// A library of a later version, of which this one knows the format alone.
unsigned newer_format(void);
unsigned newer_format(void) {
  return 99;
}
