import type { SearchedLog } from '../data/admin-api.js'

/** Says which part of the traffic log was searched. */
export function SearchedNote({ searched }: { searched: SearchedLog | null }) {
  if (searched === null) return null
  const { kind, where, isComplete } = searched
  return (
    <p class="soft small">
      Searched: {kind === 'file' ? 'the files in' : 'the Elasticsearch data stream'} <code>{where}</code>
      {isComplete ? '' : ', only the newest parts; gw logs search reads all'}. Records appear when requests
      end.
    </p>
  )
}
