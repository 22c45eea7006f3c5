/** Notes of an invented team, several to each subject, so that a question has near misses. */
export const notes: Readonly<Record<string, string>> = {
  'deploy-friday':
    'We stopped deploying on Fridays after the outage in March. Releases go out Monday to Thursday before 15:00.',
  'deploy-rollback':
    'To roll back a release, run the previous tag through the pipeline again; the database migrations are written to tolerate it.',
  'deploy-canary':
    'New releases first reach five percent of the traffic. The canary is watched for half an hour before everyone gets it.',
  'db-pool':
    'The connection pool ran dry because each worker opened ten connections. The limit is now three for each worker.',
  'db-index':
    'The orders table was slow until we added an index on customer and date. Queries went from two seconds to ten milliseconds.',
  'db-backup':
    'Backups of the database run every night at two and are restored into a scratch server every Sunday to prove that they work.',
  'auth-tokens':
    'Access tokens live for fifteen minutes and are renewed silently. Refresh tokens are revoked when the user signs out.',
  'auth-sso':
    'Single sign-on for enterprise customers goes through their own identity provider; accounts are created at the first login.',
  'auth-lockout':
    'After five failed logins an account is locked for ten minutes. Support can unlock it by hand.',
  'scrape-robots': 'The crawler obeys robots.txt and waits two seconds between pages of one site.',
  'scrape-login':
    'Scraping pages behind a login needs a session cookie; we keep one browser profile for each site.',
  'scrape-javascript':
    'Pages that render in the browser are fetched with a headless browser, all others with plain requests, which is ten times cheaper.',
  'style-errors': 'Error messages say what happened, why, and what to do next. They never blame the reader.',
  'style-names':
    'We spell names out: options, not opts; message, not msg. Abbreviations stay only where everybody uses them.',
  'style-comments':
    'A comment explains why the code is surprising. What the code does should be clear from the code.',
  'test-flaky':
    'A flaky test is fixed or removed within a day. Retrying it in the pipeline only hides the race.',
  'test-clock': 'Tests never sleep. The clock is injected and moved forward by hand.',
  'test-fixtures': 'Fixtures are small files checked into the repository beside the test that needs them.',
  'team-oncall': 'The on-call week starts on Wednesday at noon. Handover is a short call and a written note.',
  'team-reviews':
    'Every change is reviewed by one person who did not write it. Reviews are answered within one working day.',
  'team-meetings':
    'There is one meeting a week, on Tuesday morning, and its agenda is written the day before.',
  'user-ada':
    'Ada prefers short answers with code first and explanations after. She works in the Berlin office.',
  'user-bo': 'Bo is colour blind: charts need patterns and labels, never red against green.',
  'user-chen': 'Chen reviews everything on a phone, so pull requests should be small and screenshots narrow.',
  'cost-images': 'Resizing images on upload instead of at every view cut the bandwidth bill in half.',
  'cost-logs':
    'Debug logs cost more than the servers. They are sampled at one percent and kept for three days.',
  'incident-dns': 'The longest outage came from an expired domain. Renewal is now automatic and watched.',
  'incident-cache':
    'Clearing the whole cache at once sent all traffic to the database. Keys now expire at random moments.',
  'api-paging':
    'Lists in the interface are paged with a cursor. Offsets were dropped because rows moved between pages.',
  'api-limits':
    'Clients may send sixty requests a minute. Beyond that they get status 429 and a time to come back.',
}

/** Questions in other words than the answers use, from easy to hard, with the notes that answer each. */
export const questions: readonly { text: string; answers: readonly string[] }[] = [
  { text: 'roll back a release', answers: ['deploy-rollback'] },
  { text: 'connection pool limit', answers: ['db-pool'] },
  { text: 'robots.txt crawler', answers: ['scrape-robots'] },
  { text: 'flaky tests', answers: ['test-flaky'] },
  { text: 'single sign-on', answers: ['auth-sso'] },
  { text: 'error messages', answers: ['style-errors'] },
  { text: 'who is colour blind?', answers: ['user-bo'] },
  { text: 'database backups', answers: ['db-backup'] },
  { text: 'when may we deploy?', answers: ['deploy-friday'] },
  { text: 'how long do access tokens live?', answers: ['auth-tokens'] },
  { text: 'how was the slow orders query fixed?', answers: ['db-index'] },
  { text: 'what happens after failed logins?', answers: ['auth-lockout'] },
  { text: 'scraping a page that needs a login', answers: ['scrape-login'] },
  { text: 'which pages need a headless browser?', answers: ['scrape-javascript'] },
  { text: 'what should a comment explain?', answers: ['style-comments'] },
  { text: 'how do tests deal with the clock?', answers: ['test-clock'] },
  { text: 'when does the on-call handover take place?', answers: ['team-oncall'] },
  { text: 'which answers does Ada prefer?', answers: ['user-ada'] },
  { text: 'why did clearing the cache hurt the database?', answers: ['incident-cache'] },
  { text: 'how many requests may a client send in a minute?', answers: ['api-limits'] },
  { text: 'cursor or offset for paged lists', answers: ['api-paging'] },
  { text: 'outages and what caused them', answers: ['incident-dns', 'deploy-friday'] },
  { text: 'what do we do about the cost of logs and images?', answers: ['cost-logs', 'cost-images'] },
  { text: 'reviewing changes in small pull requests', answers: ['user-chen', 'team-reviews'] },
]
