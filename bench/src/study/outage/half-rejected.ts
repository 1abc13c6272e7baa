import { change, type Outage, switched } from './outage.js'

/** A number and a name: the record of one call in two has a user agent that is none. */
const AGENTS = ['2', 'bench']

/**
 * Half of the records are refused for good, with 400: what a user agent says has to be a number for that time. A field
 * that was added cannot be removed, but it can become forgiving. (Pipelines would do it as well, but the server that
 * tests install has no processors.)
 */
export function halfRejected(stream: string): Outage {
  const setting = switched('the index took all records again', (node, isOut) =>
    change(node, `/${stream}/_mapping`, { properties: { ua: agentField(!isOut) } }),
  )
  return { ...setting, agents: AGENTS }
}

/** As the log has it, with a number beside it. */
function agentField(isForgiving: boolean): object {
  const number = { type: 'long', index: false, doc_values: false, ignore_malformed: isForgiving }
  return { type: 'keyword', ignore_above: 1024, fields: { number } }
}
