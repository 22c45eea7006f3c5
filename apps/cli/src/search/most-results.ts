/** Most results that one search shows. */
export const mostResults = 1000
