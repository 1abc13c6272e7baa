import { Type } from 'ajv/dist/compile/util.js'
import { _, type KeywordCxt, type KeywordDefinition } from 'ajv/dist/core.js'

/** Keyword that starts tracking which properties and items a schema has evaluated. */
export const TRACK_KEYWORD = 'sluice:track'

/**
 * Keywords for schemas with `unevaluatedProperties` or `unevaluatedItems`. By default, Ajv starts its tracking inside
 * the first matching branch, so it loses or miscounts the results of other branches. It also takes "all items"
 * for one item if only a branch has evaluated them.
 */
export const EVALUATED_KEYWORDS: readonly KeywordDefinition[] = [
  {
    keyword: TRACK_KEYWORD,
    before: '$ref',
    code({ gen, it }) {
      it.props = gen.var('props', _`{}`)
      it.items = gen.var('items', _`0`)
    },
  },
  {
    keyword: 'unevaluatedItems',
    type: 'array',
    schemaType: ['boolean', 'object'],
    error: { message: 'must NOT have unevaluated items' },
    code: checkUnevaluatedItems,
  },
]

function checkUnevaluatedItems(context: KeywordCxt): void {
  const { gen, schema, data, it } = context
  const evaluated = it.items ?? 0
  it.items = true
  if (evaluated === true) return
  const length = gen.const('len', _`${data}.length`)
  const valid = gen.var('valid', _`${evaluated} === true || ${length} <= ${evaluated}`)
  if (schema === false) {
    context.pass(valid)
    return
  }
  gen.if(_`!${valid}`, () =>
    gen.forRange('i', evaluated, length, (i) => {
      context.subschema({ keyword: 'unevaluatedItems', dataProp: i, dataPropType: Type.Num }, valid)
      if (!it.allErrors) gen.if(_`!${valid}`, () => gen.break())
    }),
  )
  context.ok(valid)
}
