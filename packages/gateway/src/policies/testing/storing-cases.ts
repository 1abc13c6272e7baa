/** A response header. A number is a date in seconds from now. */
export type ReplyField = readonly [string, string | number]

/** One request of a case with the expected result. */
export interface CaseStep {
  readonly method?: string
  readonly path?: string
  readonly send?: Readonly<Record<string, string | readonly string[]>>
  readonly status?: number
  readonly reply?: readonly ReplyField[]
  readonly body?: string
  /** True if the origin closes the connection instead of responding. */
  readonly isCut?: boolean
  /** `hit`: no request to the origin; `miss`: a request; `etag`, `lm`: a conditional request. */
  readonly expect?: 'hit' | 'miss' | 'etag' | 'lm'
  readonly wantStatus?: number
  readonly want?: readonly (readonly [string, string])[]
  readonly missing?: readonly string[]
  /** Minimum of the Age header, exclusive. */
  readonly minAge?: number
  /** True if three seconds pass afterwards. */
  readonly waits?: boolean
}

/** Date header with the current time. */
export const DATE: ReplyField = ['date', 0]
/** Headers of a response that stays fresh for long. */
export const FRESH: readonly ReplyField[] = [
  ['expires', 100_000],
  ['cache-control', 'max-age=100000'],
  ['last-modified', 0],
  DATE,
]

/** Cases of freshness, storing and selection, named as in the public HTTP cache test suite. */
export const storingCases = new Map<string, readonly CaseStep[]>()

/** Adds a case with a response, a pause and the same request again. */
function twice(
  id: string,
  reply: readonly ReplyField[],
  expect: 'hit' | 'miss',
  more: Partial<CaseStep> = {},
): void {
  storingCases.set(id, [
    { reply, waits: true, ...more },
    { expect, ...more },
  ])
}

/** Like `twice`, with only a Cache-Control header. */
const control = (id: string, value: string, expect: 'hit' | 'miss'): void =>
  twice(id, [['cache-control', value]], expect)

// Freshness by Cache-Control.
twice('freshness-none', [], 'miss')
control('freshness-max-age', 'max-age=3600', 'hit')
control('freshness-max-age-stale', 'max-age=2', 'miss')
control('freshness-max-age-0', 'max-age=0', 'miss')
control('freshness-max-age-max', 'max-age=2147483648', 'hit')
control('freshness-max-age-max-plus', 'max-age=99999999999', 'hit')
control('freshness-max-age-max-minus-1', 'max-age=2147483647', 'hit')
control('freshness-max-age-negative', 'max-age=-3600', 'miss')
control('freshness-max-age-extension', 'foobar, max-age=3600', 'hit')
control('freshness-max-age-case-insenstive', 'MaX-aGe=3600', 'hit')
control('freshness-max-age-ignore-quoted', 'extension="max-age=3600", max-age=1', 'miss')
control('freshness-max-age-ignore-quoted-rev', 'max-age=1, extension="max-age=3600"', 'miss')
control('freshness-max-age-single-quoted', "max-age='3600'", 'miss')
control('freshness-max-age-leading-zero', 'max-age=003600', 'hit')
control('freshness-s-maxage-shared', 's-maxage=3600', 'hit')
control('freshness-max-age-s-maxage-shared-longer', 'max-age=3600, s-maxage=1', 'miss')
control('freshness-max-age-s-maxage-shared-longer-reversed', 's-maxage=1, max-age=3600', 'miss')
control('freshness-max-age-s-maxage-shared-shorter', 'max-age=1, s-maxage=3600', 'hit')
/** Returns several Cache-Control headers. */
export const lines = (...values: string[]): ReplyField[] => values.map((value) => ['cache-control', value])
twice('freshness-max-age-s-maxage-shared-longer-multiple', lines('max-age=3600', 's-maxage=1'), 'miss')
twice(
  'freshness-max-age-s-maxage-shared-shorter-expires',
  [...lines('s-maxage=3600'), ['expires', -10], DATE],
  'hit',
)
twice('freshness-max-age-age', [DATE, ...lines('max-age=3600'), ['age', '7200']], 'miss')
twice('freshness-max-age-date', [['date', -7200], ...lines('max-age=3600')], 'miss')
twice('freshness-max-age-expires', [...lines('max-age=3600'), ['expires', -10_000], DATE], 'hit')
twice('freshness-max-age-expires-invalid', [...lines('max-age=3600'), ['expires', '0'], DATE], 'hit')
twice('freshness-max-age-0-expires', [['expires', 10_000], ...lines('max-age=0'), DATE], 'miss')
control('freshness-max-age-100a', 'max-age=3600a', 'miss')
control('freshness-max-age-a100', 'max-age=a3600', 'miss')

// Freshness by Expires.
const expires = (id: string, value: string | number, expect: 'hit' | 'miss', date: ReplyField = DATE): void =>
  twice(id, [['expires', value], date], expect)
expires('freshness-expires-future', 30 * 86_400, 'hit')
expires('freshness-expires-past', -30 * 86_400, 'miss')
expires('freshness-expires-present', 0, 'miss')
expires('freshness-expires-old-date', 300, 'miss', ['date', 400])
expires('freshness-expires-invalid', '0', 'miss')
expires('freshness-expires-rfc850', 'Thursday, 18-Aug-50 02:01:18 GMT', 'hit')
expires('freshness-expires-ansi-c', 'Thu Aug 18 02:01:18 2050', 'hit')
expires('freshness-expires-wrong-case-weekday', 'THU, 18 Aug 2050 02:01:18 GMT', 'hit')
expires('freshness-expires-wrong-case-month', 'Thu, 18 AUG 2050 02:01:18 GMT', 'hit')
expires('freshness-expires-wrong-case-tz', 'Thu, 18 Aug 2050 02:01:18 gMT', 'hit')
for (const [name, value] of [
  ['utc', 'Thu, 18 Aug 2050 02:01:18 UTC'],
  ['2-digit-year', 'Thu, 18 Aug 50 02:01:18 GMT'],
  ['no-comma', 'Thu 18 Aug 2050 02:01:18 GMT'],
  ['multiple-spaces', 'Thu, 18  Aug  2050 02:01:18 GMT'],
  ['date-dashes', 'Thu, 18-Aug-2050 02:01:18 GMT'],
  ['time-periods', 'Thu, 18 Aug 2050 02.01.18 GMT'],
  ['1-digit-hour', 'Thu, 18 Aug 2050 2:01:18 GMT'],
] as const)
  expires(`freshness-expires-invalid-${name}`, value, 'miss')
expires('freshness-expires-invalid-date', 10, 'hit', ['date', 'foo'])
twice(
  'freshness-expires-age-slow-date',
  [
    ['date', -10],
    ['expires', 10],
    ['age', '25'],
  ],
  'miss',
)
twice(
  'freshness-expires-age-fast-date',
  [
    ['date', 10],
    ['expires', 20],
    ['age', '15'],
  ],
  'miss',
)

// Directives of responses.
control('cc-resp-private-shared', 'private, max-age=3600', 'miss')
control('cc-resp-no-store', 'no-store', 'miss')
control('cc-resp-no-store-case-insensitive', 'No-StOrE', 'miss')
twice('cc-resp-no-store-fresh', [...lines('max-age=10000, no-store'), ['expires', 10_000], DATE], 'miss')
twice('cc-resp-no-cache', [...lines('max-age=10000, no-cache'), ['expires', 10_000], DATE], 'miss')
twice('cc-resp-no-cache-case-insensitive', [...lines('max-age=10000, No-CaChE'), DATE], 'miss')
const validated = (id: string, value: string): void =>
  void storingCases.set(id, [
    {
      reply: [
        ['cache-control', value],
        ['etag', '"abcd"'],
      ],
    },
    { expect: 'etag', reply: [['etag', '"abcd"']] },
  ])
validated('cc-resp-no-cache-revalidate', 'no-cache')
validated('cc-resp-no-cache-revalidate-fresh', 'max-age=10000, no-cache')
const MUST: readonly ReplyField[] = [
  ['cache-control', 'max-age=2, must-revalidate'],
  ['etag', '"abcd"'],
]
storingCases.set('cc-resp-must-revalidate-stale', [
  { reply: MUST },
  { expect: 'hit', waits: true },
  { expect: 'etag', reply: MUST },
])
control('cc-resp-must-revalidate-fresh', 'max-age=10000, must-revalidate', 'hit')
storingCases.set('headers-omit-headers-listed-in-Cache-Control-no-cache', [
  { reply: [...lines('no-cache="a, b"', 'max-age=3600'), ['a', '1'], ['b', '2'], ['c', '3']] },
  { expect: 'hit', want: [['c', '3']], missing: ['a', 'b'] },
])

// Targeted fields (RFC 9213).
const cdn = (id: string, value: string, expect: 'hit' | 'miss', more: readonly ReplyField[] = []): void =>
  twice(id, [['cdn-cache-control', value], DATE, ...more], expect)
cdn('cdn-max-age', 'max-age=3600', 'hit')
cdn('cdn-max-age-max-plus', 'max-age=99999999999', 'hit')
cdn('cdn-max-age-0', 'max-age=0', 'miss')
cdn('cdn-max-age-age', 'max-age=3600', 'miss', [['age', '7200']])
cdn('cdn-max-age-extension', 'foobar, max-age=3600', 'hit')
cdn('cdn-max-age-expires', 'max-age=3600', 'hit', [['expires', -10_000]])
cdn('cdn-max-age-0-expires', 'max-age=0', 'miss', [['expires', 10_000]])
cdn('cdn-max-age-short-cc-max-age', 'max-age=3600', 'hit', lines('max-age=1'))
cdn('cdn-max-age-long-cc-max-age', 'max-age=1', 'miss', lines('max-age=3600'))
cdn('cdn-max-age-space-before-equals', 'max-age =100', 'miss', lines('max-age=1'))
cdn('cdn-fresh-cc-nostore', 'max-age=10000', 'hit', lines('no-store'))
for (const directive of ['private', 'no-cache', 'no-store'])
  cdn(`cdn-${directive}`, directive, 'miss', [...lines('max-age=10000'), ['expires', 10_000]])
for (const value of ['max-age=10000, &&&&&', 'max-age="10000"', 'max-age=1.5', 'max-age', 'max-age=(1)', ''])
  cdn(`cdn-cc-invalid-${encodeURIComponent(value)}`, value, 'miss', lines('no-store'))
for (const value of ['no-store, &&&&&', 'MaX-aGe=60, No-Store'])
  cdn(`cdn-cc-refusal-${encodeURIComponent(value)}`, value, 'miss', lines('max-age=3600'))

// Stale responses that are served although the origin is gone.
for (const directive of ['must-revalidate', 'proxy-revalidate', 'no-cache', 's-maxage=2']) {
  storingCases.set(`stale-close-${directive}`, [
    { reply: lines(`max-age=2, ${directive}`), waits: true },
    { isCut: true, expect: 'miss', wantStatus: 502 },
  ])
}
storingCases.set('stale-sie-close', [
  { reply: lines('max-age=2, stale-if-error=60'), waits: true },
  { isCut: true, wantStatus: 200 },
])
storingCases.set('stale-sie-503', [
  { reply: lines('max-age=2, stale-if-error=60'), waits: true },
  { status: 503, wantStatus: 200 },
])

// Statuses.
for (const status of [
  200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599,
]) {
  twice(`status-${status}-fresh`, FRESH, 'hit', { status })
  twice(`status-${status}-stale`, [['expires', -5000], ['last-modified', -100_000], DATE], 'miss', { status })
}
twice('status-599-must-understand', lines('max-age=3600, must-understand'), 'miss', { status: 599 })
const LONG_AGO: readonly ReplyField[] = [['last-modified', -86_400], DATE]
for (const status of [200, 203, 204, 404, 405, 410, 414, 501])
  twice(`heuristic-${status}-cached`, LONG_AGO, 'hit', { status })
for (const status of [201, 202, 403, 502, 503, 504, 599])
  twice(`heuristic-${status}-not_cached`, LONG_AGO, 'miss', { status })
twice('heuristic-599-cached', [...LONG_AGO, ['cache-control', 'public']], 'hit', { status: 599 })

// Vary.
/** Request headers of a case. */
export type Sent = Readonly<Record<string, string | readonly string[]>>
const vary = (
  id: string,
  field: string | readonly string[],
  sent: readonly [Sent, Sent],
  expect: 'hit' | 'miss',
): void => {
  const varies = [field].flat().map((value): ReplyField => ['vary', value])
  const reply: ReplyField[] = [...lines('max-age=5000'), ['last-modified', -3000], DATE, ...varies]
  storingCases.set(id, [
    { send: sent[0], reply },
    { send: sent[1], expect },
  ])
}
const THREE = { foo: '1', bar: 'abc', baz: '789' }
vary('vary-match', 'Foo', [{ foo: '1' }, { foo: '1' }], 'hit')
vary('vary-no-match', 'Foo', [{ foo: '1' }, { foo: '2' }], 'miss')
vary('vary-omit-stored', 'Foo', [{}, { foo: '1' }], 'miss')
vary('vary-omit', 'Foo', [{ foo: '1' }, {}], 'miss')
vary(
  'vary-cache-key',
  'Foo',
  [
    { foo: '1', other: '2' },
    { foo: '1', other: '3' },
  ],
  'hit',
)
vary(
  'vary-2-match',
  'Foo, Bar',
  [
    { foo: '1', bar: 'a' },
    { foo: '1', bar: 'a' },
  ],
  'hit',
)
vary(
  'vary-2-no-match',
  'Foo, Bar',
  [
    { foo: '1', bar: 'a' },
    { foo: '2', bar: 'a' },
  ],
  'miss',
)
vary('vary-2-match-omit', 'Foo, Bar', [{ foo: '1', bar: 'a' }, {}], 'miss')
vary('vary-3-match', 'Foo, Bar, Baz', [THREE, THREE], 'hit')
vary('vary-3-no-match', 'Foo, Bar, Baz', [THREE, { ...THREE, foo: '2' }], 'miss')
vary('vary-3-order', 'Foo, Bar, Baz', [THREE, { foo: '1', baz: '789', bar: 'abcde' }], 'miss')
vary(
  'vary-3-omit',
  'Foo, Bar, Baz',
  [
    { foo: '1', baz: '7' },
    { foo: '1', baz: '7' },
  ],
  'hit',
)
vary('vary-normalise-combine', 'Foo', [{ foo: '1, 2' }, { foo: ['1', '2'] }], 'hit')
vary('vary-normalise-space', 'Foo', [{ foo: '1,2' }, { foo: ' 1, 2 ' }], 'hit')
for (const [name, field] of [
  ['vary-star', '*'],
  ['vary-syntax-star', '*'],
  ['vary-syntax-star-star', '*, *'],
  ['vary-syntax-star-star-lines', ['*', '*']],
  ['vary-syntax-empty-star', ', *'],
  ['vary-syntax-empty-star-lines', ['', '*']],
  ['vary-syntax-star-foo', '*, Foo'],
  ['vary-syntax-foo-star', 'Foo, *'],
] as const)
  vary(name, field, [THREE, THREE], 'miss')
storingCases.set(
  'vary-invalidate',
  ['1', '2', '1'].map(
    (foo, i): CaseStep => ({
      send: { foo },
      reply: [...FRESH, ['vary', 'Foo']],
      body: `foo ${foo}`,
      expect: i === 2 ? 'hit' : 'miss',
    }),
  ),
)
