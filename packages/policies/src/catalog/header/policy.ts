import { definePolicy, type Step } from '@sluice/core'
import { compileEdits, type Edit } from './edit.js'
import { headerSchema } from './schema.js'

/** Changes header fields of the request and of the response. */
export const header = definePolicy({
  name: 'header',
  summary: 'Sets, appends, removes and renames header fields of the request and of the response.',
  schema: headerSchema,
  compile(config) {
    const request = compileEdits('request', config.request)
    const response = compileEdits('response', config.response)
    if (request.length === 0 && response.length === 0) return null
    return {
      name: 'header',
      ...(request.length > 0 && { onRequest: requestHook(request) }),
      ...(response.length > 0 && { onResponse: responseHook(response) }),
    }
  },
})

function requestHook(edits: readonly Edit[]): NonNullable<Step['onRequest']> {
  const edit = joined(edits)
  return (x) => {
    edit(x.headers, x)
    return null
  }
}

function responseHook(edits: readonly Edit[]): NonNullable<Step['onResponse']> {
  const edit = joined(edits)
  return (x) => {
    edit(x.responseHeaders, x)
    return null
  }
}

/** One change as it is, several in turn. */
function joined(edits: readonly Edit[]): Edit {
  if (edits.length === 1) return edits[0]!
  return (list, x) => {
    for (let i = 0; i < edits.length; i++) edits[i]!(list, x)
  }
}
