// Blocks: vectors of statements that copies share.
#include "ir/stmt.h"

#include <algorithm>

namespace lehr::ir {

Block::Block(std::initializer_list<Stmt> statements) {
  if (statements.size() != 0) statements_ = std::make_shared<std::vector<Stmt>>(statements);
}

std::vector<Stmt>& Block::own() {
  if (statements_ == nullptr) {
    statements_ = std::make_shared<std::vector<Stmt>>();
  } else if (statements_.use_count() > 1) {
    statements_ = std::make_shared<std::vector<Stmt>>(*statements_);
  }
  return *statements_;
}

void Block::reserve(std::size_t size) {
  own().reserve(size);
}

void Block::push_back(Stmt statement) {
  own().push_back(std::move(statement));
}

void Block::push_front(Stmt statement) {
  std::vector<Stmt>& mine = own();
  mine.insert(mine.begin(), std::move(statement));
}

void Block::append(const Block& statements) {
  if (empty()) {
    *this = statements;
    return;
  }
  const Block added = statements;  // a copy, because `statements` may be this block
  std::vector<Stmt>& mine = own();
  mine.insert(mine.end(), added.begin(), added.end());
}

bool operator==(const Block& x, const Block& y) {
  return x.statements_ == y.statements_ || std::equal(x.begin(), x.end(), y.begin(), y.end());
}

}  // namespace lehr::ir
