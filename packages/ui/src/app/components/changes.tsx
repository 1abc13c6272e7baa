import type { Change } from '../data/admin-api.js'

const SIGNS = { add: '+', change: '~', remove: '-' } as const
const WORDS = { add: 'added', change: 'changed', remove: 'removed' } as const

/** Lists the changes between two plans. */
export function Changes({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return <p class="empty">No differences.</p>
  return (
    <ul class="changes">
      {changes.map(({ kind, what, name, details }) => (
        <li key={`${kind} ${what} ${name}`}>
          <code class={kind}>
            <span aria-hidden="true">{SIGNS[kind]}</span>
            <span class="hidden">{WORDS[kind]}</span> {what} {name}
          </code>
          {details.map((detail) => (
            <code key={detail} class="detail">
              {detail}
            </code>
          ))}
        </li>
      ))}
    </ul>
  )
}
