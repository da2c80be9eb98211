// nyssa in C++17: reads and writes RNTuples and TTrees of ROOT files without ROOT.
//
//     nyssa::Writer file("out.root");
//     auto events = file.table("Events", nyssa::field<std::vector<Jet>>("jets"));
//     events.fill(jets);
//     file.commit();
//
//     nyssa::Dataset in("out.root:Events");
//     for (nyssa::Batch &batch : in.batches({"jets"}))
//       for (const std::vector<Jet> &jets : batch.objects<std::vector<Jet>>("jets")) ...
//
// Objects close what they hold, and can be moved and not copied. Every function can throw `nyssa::Error`. The rules of
// threads and the options are described in `nyssa.h`.

#ifndef NYSSA_HPP
#define NYSSA_HPP

#include <nyssa/classes.hpp>
#include <nyssa/dataset.hpp>
#include <nyssa/error.hpp>
#include <nyssa/jobs.hpp>
#include <nyssa/standard_types.hpp>
#include <nyssa/types.hpp>
#include <nyssa/writer.hpp>

#endif
