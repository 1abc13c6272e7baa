import { definePolicy } from '@sluice/core'
import { hooksOn, type MessageHooks } from '../../shared/message/hooks.js'
import { headersOf, type Side } from '../../shared/message/side.js'
import { compileEdits, type Edit } from './edit.js'
import { headerSchema } from './schema.js'

/** Changes header fields of the request and of the response. */
export const header = definePolicy({
  name: 'header',
  summary: 'Sets, appends, removes and renames header fields of the request and of the response.',
  schema: headerSchema,
  compile(config) {
    const hooks = hooksOn('both', (side) => hooksOf(side, compileEdits(side, config[side])))
    return Object.keys(hooks).length === 0 ? null : { name: 'header', ...hooks }
  },
})

function hooksOf(side: Side, edits: readonly Edit[]): MessageHooks {
  if (edits.length === 0) return {}
  const edit = joined(edits)
  return {
    head(x) {
      edit(headersOf(x, side), x)
      return null
    },
  }
}

/** Combines several changes into one. */
function joined(edits: readonly Edit[]): Edit {
  if (edits.length === 1) return edits[0]!
  return (list, x) => {
    for (let i = 0; i < edits.length; i++) edits[i]!(list, x)
  }
}
