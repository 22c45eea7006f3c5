import { isMemoryError, type MemoryError } from '../errors.ts'

/** Whether an embedder's error says that the model answers but refuses one of the texts (see `Embedder.embed`). */
export const refusesText = (error: unknown): error is MemoryError =>
  isMemoryError(error) && error.details?.refusesText === true
