import { useState } from 'preact/hooks'
import { Changes } from '../components/changes.js'
import { Card, Problem } from '../components/parts.js'
import type { Applied, Diagnostic, Document } from '../data/admin-api.js'
import { type Refused, request, tryDocument } from '../data/request.js'

/** A form that checks a document and shows what it would change. Nothing is applied. */
export function Trial() {
  const [yaml, setYaml] = useState('')
  const [answer, setAnswer] = useState<Applied | null>(null)
  const [failure, setFailure] = useState<Refused | null>(null)
  const load = (): void => {
    request<Document>('GET', '/v1/config').then((document) => setYaml(document.yaml), setFailure)
  }
  const check = (event: Event): void => {
    event.preventDefault()
    setAnswer(null)
    setFailure(null)
    tryDocument(yaml).then(setAnswer, setFailure)
  }
  return (
    <Card title="Try a document" note="nothing is applied">
      <form onSubmit={check}>
        <label for="document">YAML</label>
        <textarea
          id="document"
          rows={12}
          required
          spellcheck={false}
          value={yaml}
          onInput={(event) => setYaml(event.currentTarget.value)}
        />
        <div class="buttons">
          <button type="button" onClick={load}>
            Start with the active document
          </button>
          <button type="submit" class="primary">
            Check
          </button>
        </div>
      </form>
      <div aria-live="polite">
        {answer === null ? null : (
          <>
            <h3>{answer.result === 'unchanged' ? 'Nothing would change' : 'These would be the changes'}</h3>
            <Changes changes={answer.changes} />
            <Diagnostics list={answer.warnings} />
          </>
        )}
        {failure === null ? null : failure.diagnostics.length === 0 ? (
          <Problem text={failure.message} />
        ) : (
          <>
            <h3>The document has {failure.diagnostics.length === 1 ? 'an error' : 'errors'}</h3>
            <Diagnostics list={failure.diagnostics} />
          </>
        )}
      </div>
      {yaml.includes('***') ? (
        <p class="warning">
          Masked secrets (***) count as changes, or as errors if they have a fixed format.
        </p>
      ) : null}
    </Card>
  )
}

function Diagnostics({ list }: { list: readonly Diagnostic[] }) {
  return (
    <ul class="changes">
      {list.map(({ severity, line, column, path, message, remedy }) => (
        <li key={`${line} ${column} ${message}`}>
          <code class={severity === 'error' ? 'remove' : 'change'}>
            line {line}, column {column} {path}
          </code>
          {message}
          <div class="soft">{remedy}</div>
        </li>
      ))}
    </ul>
  )
}
