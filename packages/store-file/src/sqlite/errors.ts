import { causeOf, errorCode } from '@recall/core/process'

/** SQLite's messages and their primary codes: errors of queries that return rows carry only the message. */
const codesByMessage: Readonly<Record<string, number>> = {
  'database is locked': 5,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'constraint failed': 19,
  'file is not a database': 26,
}

/** SQLite's extended code, or the primary one if the driver gives no other; 0 for any other error. */
function extendedCode(error: unknown): number {
  const { code, errcode, message } = (causeOf(error) ?? {}) as {
    code?: string
    errcode?: number
    message?: string
  }
  if (errcode !== undefined) return errcode
  if (code !== 'ERR_SQLITE_ERROR' || message === undefined) return 0
  // FTS5 says which of its tables is corrupt.
  return message.startsWith('fts5: corrupt') ? 11 : (codesByMessage[message] ?? 0)
}

/** Extended codes keep the primary code in the low byte: 8 READONLY, 14 CANTOPEN, 5 BUSY. */
const sqliteCode = (error: unknown): number => extendedCode(error) & 0xff

/** The data read differs from the data written: 266 READ, 522 SHORT_READ, 8202 DATA, 8458 CORRUPTFS of 10 IOERR. */
const misread = [266, 522, 8202, 8458]

/** 13 FULL. */
export const isDiskFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '') || sqliteCode(error) === 13

/** Windows: another process, or another part of this one, has the file open. */
export const isHeldOpen = (error: unknown): boolean => errorCode(error) === 'EBUSY'

/** A file could not be written, extended, synced or locked: a full disk or a quota, which damage nothing. */
const isOutputFailure = (error: unknown): boolean =>
  sqliteCode(error) === 10 && !misread.includes(extendedCode(error))

/** Nothing can be written, but stored data can still be read. */
export const isUnwritable = (error: unknown): boolean =>
  isDiskFull(error) ||
  isHeldOpen(error) ||
  ['EACCES', 'EROFS', 'EPERM'].includes(errorCode(error) ?? '') ||
  [8, 14].includes(sqliteCode(error)) ||
  isOutputFailure(error)

export const isBusy = (error: unknown): boolean => sqliteCode(error) === 5

/**
 * The database file is not what SQLite expects: 11 CORRUPT, 26 NOTADB; or its tables contradict each other: 19
 * CONSTRAINT, since our writes keep every constraint of an intact database.
 */
export const isDamage = (error: unknown): boolean =>
  [11, 19, 26].includes(sqliteCode(error)) || misread.includes(extendedCode(error))

/** Another process is emptying the index in its place, or is about to fill a new one. */
export const isEmptied = (error: unknown): boolean =>
  errorCode(error) === 'ERR_SQLITE_ERROR' && /^no such table/.test((causeOf(error) as Error).message)
