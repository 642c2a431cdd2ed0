// The messages of impl/server, by the names that this folder uses.
#pragma once

#include <memory>

#include "impl/server/batch.h"
#include "impl/server/wire.h"

namespace armci::twosided {

using Batch = server::Batch<std::unique_ptr<char[]>>;
using server::BatchEntry;
using server::Bounds;
using server::Form;
using server::IsInside;
using server::kAcknowledgeTag;
using server::kCreditTag;
using server::kDataAlone;
using server::kFirstTag;
using server::kLastCredits;
using server::kLastTag;
using server::kRequestTag;
using server::kSegmentBytesMax;
using server::ReplyHeader;
using server::Request;
using server::RequestHeader;
using server::RequestKind;
using server::WireLevel;

}  // namespace armci::twosided
