"""Writes RNTuples with streamer fields by ROOT, of the branches of a TTree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["stream"]

#: What ROOT compiles. Its importer makes no streamer fields.
_CODE = """
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TBranch.h>
#include <TClass.h>
#include <TFile.h>
#include <TLeafC.h>
#include <TTree.h>

namespace nyssa_studies {
/// Fills an RNTuple with entries of a tree. The branches `streamed` become streamer fields.
void stream(const std::string &input, const std::string &path, const std::string &output,
            const std::vector<std::string> &streamed, const ROOT::RNTupleWriteOptions &options,
            Long64_t entries)
{
   TFile file(input.c_str());
   auto tree = file.Get<TTree>(path.c_str());
   auto model = ROOT::RNTupleModel::CreateBare();
   struct Column { TBranch *branch; bool isObject; std::shared_ptr<void> value; void *address; };
   std::vector<Column> columns;
   for (auto object : *tree->GetListOfBranches()) {
      auto branch = static_cast<TBranch *>(object);
      std::string name = branch->GetName(), type = branch->GetClassName();
      const bool isObject = !type.empty();
      if (!isObject) {
         auto leaf = static_cast<TLeaf *>(branch->GetListOfLeaves()->At(0));
         const bool isNumber = branch->GetNleaves() == 1 && leaf->GetLenStatic() == 1 &&
                               !leaf->GetLeafCount() && !dynamic_cast<TLeafC *>(leaf);
         if (!isNumber)
            throw std::runtime_error("the branch " + name + " has neither objects nor single "
                                     "numbers; ROOT's half with streamer fields takes only these");
         type = leaf->GetTypeName();
      }
      auto field = ROOT::RFieldBase::Create(name, type).Unwrap();
      if (isObject && std::find(streamed.begin(), streamed.end(), name) != streamed.end())
         field = std::make_unique<ROOT::RStreamerField>(name, field->GetTypeName());
      model->AddField(std::move(field));
      columns.push_back({branch, isObject, nullptr, nullptr});
   }
   auto name = path.substr(path.rfind('/') + 1);
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), name, output, options);
   auto entry = writer->CreateEntry();
   for (auto &column : columns) {
      column.value = entry->GetPtr<void>(column.branch->GetName());
      column.address = column.value.get();
      void *ofPointer = &column.address;
      column.branch->SetAddress(column.isObject ? ofPointer : column.address);
   }
   const auto last = entries < 0 ? tree->GetEntries() : std::min(entries, tree->GetEntries());
   for (Long64_t at = 0; at < last; ++at) {
      tree->GetEntry(at);
      writer->Fill(*entry);
   }
   tree->ResetBranchAddresses();
}
} // namespace nyssa_studies
"""


def stream(
    root: Any, place: tuple[str, str], output: str, streamed: Sequence[str], options: Any, last: int
) -> None:
    """Convert entries of the tree at `place`, a file and a path, up to `last`; -1 means all.

    Columns of `streamed` that are objects of classes or containers become streamer fields.
    """
    if not hasattr(root, "nyssa_studies"):
        root.gInterpreter.Declare(_CODE)
    names = root.std.vector["std::string"](list(streamed))
    root.nyssa_studies.stream(*place, output, names, options, last)
