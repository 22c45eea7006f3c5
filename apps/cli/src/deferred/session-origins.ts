import { listOriginIds, splitAddress } from '@recall/agents'

/** Ids of the sessions that a session was forked from; none for one in a database. */
export const originsIn = async (transcript: string): Promise<string[]> =>
  splitAddress(transcript) === null ? listOriginIds(transcript) : []
