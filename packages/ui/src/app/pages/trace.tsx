import { useState } from 'preact/hooks'
import { Card, Problem } from '../components/parts.js'
import { SearchedNote } from '../components/searched-note.js'
import { Waterfall } from '../components/waterfall.js'
import { hashOf } from '../data/address.js'
import type { Records } from '../data/admin-api.js'
import { useAnswer } from '../data/answer.js'
import { traceSpans } from '../data/spans.js'

/** Maximum number of records of a trace. */
const MAX_RECORDS = 100

/** Asks for a trace id. */
export function Traces() {
  const [id, setId] = useState('')
  const open = (event: Event): void => {
    event.preventDefault()
    location.hash = hashOf('traces', id.trim().toLowerCase())
  }
  return (
    <form class="card" onSubmit={open}>
      <p>
        Shows all requests of a trace on one timeline. The id is in <code>traceparent</code>, in error bodies,
        and in the records of the <a href="#/log">log</a>.
      </p>
      <label for="trace">Trace id</label>
      <input
        id="trace"
        required
        pattern="\s*[0-9a-fA-F]{32}\s*"
        title="32 hexadecimal digits"
        value={id}
        onInput={(event) => setId(event.currentTarget.value)}
      />
      <div class="buttons">
        <button type="submit" class="primary">
          Show
        </button>
      </div>
    </form>
  )
}

/** The requests of a trace with their policies, calls and upstream attempts. */
export function TracePage({ id }: { id: string }) {
  const path = `/v1/records?limit=${MAX_RECORDS}&trace=${encodeURIComponent(id)}`
  const { value, problem, reload } = useAnswer<Records>(path)
  const back = <a href={hashOf('log', null, { trace: id })}>Requests of this trace</a>
  if (value === null) return problem === null ? <p class="empty">Searching …</p> : <Problem text={problem} />
  const { records, searched } = value
  return (
    <>
      <p>{back}</p>
      <Card title="Timeline" note={`${records.length} ${records.length === 1 ? 'request' : 'requests'}`}>
        {records.length === 0 ? (
          <p class="empty">No record has this trace id.</p>
        ) : (
          <Waterfall caption="Timeline of the trace" spans={traceSpans(records)} />
        )}
        <SearchedNote searched={searched} />
        <div class="buttons">
          <button type="button" onClick={reload}>
            Search again
          </button>
        </div>
      </Card>
    </>
  )
}
