/** The content of a curated memory that nobody has written to. */
export const emptyMemory =
  '# Memory\n\nFacts, preferences and patterns worth keeping in view. Keep it under 200 lines.\n'
