import { anyCourse } from './any-course.ts'
import { archiveSearch } from './archive-search.ts'
import { archiving } from './archiving.ts'
import { badInput } from './bad-input.ts'
import { batches } from './batches.ts'
import { concurrency } from './concurrency.ts'
import { deletion } from './deletion.ts'
import { durability } from './durability.ts'
import { encryption } from './encryption.ts'
import { expiry } from './expiry.ts'
import type { Theme } from './harness.ts'
import { keys } from './keys.ts'
import { lifecycle } from './lifecycle.ts'
import { metadata } from './metadata.ts'
import { quotas } from './quotas.ts'
import { roundTrip } from './round-trip.ts'
import { schemas } from './schemas.ts'
import { scopes } from './scopes.ts'
import { searchFilters } from './search-filters.ts'
import { searchMatches } from './search-matches.ts'
import { searchOrder } from './search-order.ts'
import { searchQuality } from './search-quality.ts'
import { searchText } from './search-text.ts'
import { searchVectors } from './search-vectors.ts'
import { secrets } from './secrets.ts'

/** In the order of docs/contract.md. */
export const themes: readonly Theme[] = [
  roundTrip,
  keys,
  scopes,
  metadata,
  searchText,
  searchVectors,
  searchFilters,
  searchOrder,
  searchMatches,
  searchQuality,
  deletion,
  expiry,
  batches,
  badInput,
  schemas,
  secrets,
  lifecycle,
  concurrency,
  durability,
  quotas,
  archiving,
  archiveSearch,
  encryption,
  anyCourse,
]
