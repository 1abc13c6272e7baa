import { useState } from 'preact/hooks'
import { Badge, Card, type Column, Problem, Table } from '../components/parts.js'
import { SearchedNote } from '../components/searched-note.js'
import { hashOf } from '../data/address.js'
import type { LogRecord } from '../data/admin-api.js'
import { keyOf, MAX_ROWS, useLiveRecords } from '../data/live-records.js'
import { latencyText } from '../data/text.js'

/** Filters by their parameter in the address. */
const FILTERS = [
  { name: 'status', label: 'Status', hint: '5xx, 404, 400-499' },
  { name: 'method', label: 'Method', hint: 'GET' },
  { name: 'route', label: 'Route', hint: 'orders' },
  { name: 'path', label: 'Path contains', hint: '/orders' },
  { name: 'consumer', label: 'Consumer', hint: 'id or name' },
  { name: 'minMs', label: 'At least ms', hint: '500' },
  { name: 'trace', label: 'Trace id', hint: '' },
  { name: 'id', label: 'Request id', hint: '' },
] as const

/** New requests as they end, with filters. */
export function Log({ query }: { query: URLSearchParams }) {
  const [isPaused, setPaused] = useState(false)
  const filters = FILTERS.map(({ name }) => [name, query.get(name) ?? ''] as const)
  const { rows, searched, problem } = useLiveRecords(apiQuery(filters), isPaused)
  const isFiltered = filters.some(([, value]) => value !== '')
  return (
    <>
      <form class="card" onChange={apply} onSubmit={apply}>
        <div class="filters">
          {FILTERS.map(({ name, label, hint }) => (
            <div key={name}>
              <label for={name}>{label}</label>
              <input
                id={name}
                name={name}
                placeholder={hint}
                autocomplete="off"
                value={query.get(name) ?? ''}
                {...(name === 'minMs' ? { inputMode: 'numeric' as const, pattern: '[0-9]*' } : {})}
              />
            </div>
          ))}
        </div>
        <div class="buttons">
          <span class="soft" role="status">
            {isPaused ? 'paused' : 'live'}, {rows.length} requests
          </span>
          {isFiltered ? <a href="#/log">Clear filters</a> : null}
          <button type="button" onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Resume' : 'Pause'}
          </button>
        </div>
      </form>
      <Problem text={problem} />
      <Card title="Requests" note={`the newest, at most ${MAX_ROWS}`}>
        <Table
          caption="Requests"
          columns={COLUMNS}
          rows={rows}
          keyOf={keyOf}
          empty={searched === null ? 'Loading …' : 'No request matches yet.'}
        />
        <SearchedNote searched={searched} />
      </Card>
    </>
  )
}

/** Puts the filters into the address. */
function apply(event: Event & { readonly currentTarget: HTMLFormElement }): void {
  if (event.type === 'submit') event.preventDefault()
  if (!event.currentTarget.checkValidity()) return
  const values = FILTERS.map(({ name }) => {
    const field = event.currentTarget.elements.namedItem(name) as HTMLInputElement
    return [name, field.value.trim()] as const
  })
  location.hash = hashOf('log', null, Object.fromEntries(values))
}

function apiQuery(filters: readonly (readonly [string, string])[]): string {
  const present = filters
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [name, name === 'path' ? `*${value}*` : value])
  return new URLSearchParams(present).toString()
}

const COLUMNS: readonly Column<LogRecord>[] = [
  { title: 'Time', cell: (record) => <Clock at={record['@timestamp']} /> },
  {
    title: 'Status',
    cell: ({ res }) => <Badge tone={toneOf(res?.status ?? 0)}>{res?.status ?? '–'}</Badge>,
  },
  {
    title: 'Request',
    cell: ({ id = '', http, url }) => (
      <a class="path" href={hashOf('log', id)}>
        {http?.method} {url?.path}
      </a>
    ),
    isWide: true,
  },
  { title: 'Time taken', cell: ({ t }) => latencyText(t?.['total'] ?? null), isNumber: true },
  { title: 'Route', cell: ({ route }) => route, isExtra: true },
  { title: 'Consumer', cell: ({ consumer }) => consumer?.name ?? '', isExtra: true },
  {
    title: 'Target or error',
    cell: ({ error, up }) => (error === undefined ? up?.addr : <code>{error.code}</code>),
    isExtra: true,
  },
]

function Clock({ at }: { at: string }) {
  const time = new Date(at)
  return (
    <time dateTime={at}>
      {time.toLocaleTimeString('en-GB')}
      <span class="extra">.{String(time.getMilliseconds()).padStart(3, '0')}</span>
    </time>
  )
}

/** Returns the colour of a status. */
export function toneOf(status: number): 'good' | 'warn' | 'bad' | 'plain' {
  if (status >= 500) return 'bad'
  if (status >= 400) return 'warn'
  return status >= 200 && status < 300 ? 'good' : 'plain'
}
