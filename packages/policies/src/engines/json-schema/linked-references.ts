import { compileSchema, resolveSchema, SchemaEnv } from 'ajv/dist/compile/index.js'
import { inlineRef, resolveUrl } from 'ajv/dist/compile/resolve.js'
import { _, type CodeKeywordDefinition, type KeywordCxt, type SchemaObjCxt } from 'ajv/dist/core.js'
import { callRef } from 'ajv/dist/vocabularies/core/ref.js'
import type { Ajv } from './draft.js'
import { type SchemaLink, SchemaLinks } from './schema-links.js'

/** Keywords of a schema that is compiled into each schema that refers to it. A call costs less code than more of them. */
const MAX_INLINED = 20

/** Makes a compiler compile what `$ref` leads to later, each schema by itself; otherwise all are compiled at once. */
export function linkReferences(ajv: Ajv): SchemaLinks {
  const links = new SchemaLinks()
  const known = new Map<unknown, (readonly [SchemaEnv, SchemaLink])[]>()
  const linkTo = (target: SchemaEnv): SchemaLink => {
    const ofSchema = known.get(target.schema) ?? []
    const found = ofSchema.find(([{ root, baseId }]) => root === target.root && baseId === target.baseId)
    if (found !== undefined) return found[1]
    const link = links.add(() => (target.validate ?? compileSchema.call(ajv, target).validate)!)
    known.set(target.schema, [...ofSchema, [target, link]])
    return link
  }
  ajv.opts.inlineRefs = MAX_INLINED
  // The keyword keeps its place among the others: it has to come before `unevaluatedProperties`.
  const keyword = ajv.getKeyword('$ref') as CodeKeywordDefinition
  const { code } = keyword
  keyword.code = (context: KeywordCxt) => {
    const { gen, it, schema } = context
    const target = targetOf(it, String(schema))
    // The library inlines small schemas, calls a schema within itself, and reports references that lead nowhere.
    const isLinked =
      target !== undefined &&
      target !== it.schemaEnv &&
      // Schemas of schemas are compiled with other options.
      target.root.meta !== true &&
      !inlineRef(target.schema, MAX_INLINED)
    if (isLinked) callRef(context, _`${gen.scopeValue('wrapper', { ref: linkTo(target) })}.validate`)
    else code(context)
  }
  return links
}

/** Returns the schema that a reference leads to, as `resolveRef` of the library does, but does not compile it. */
function targetOf({ baseId, schemaEnv: { root }, self: ajv }: SchemaObjCxt, reference: string) {
  if ((reference === '#' || reference === '#/') && baseId === root.baseId) return root
  const written = resolveUrl(ajv.opts.uriResolver, baseId, reference)
  let address = written
  let found = ajv.refs[address]
  while (typeof found === 'string') {
    address = found
    found = ajv.refs[address]
  }
  const target = found ?? ajv.schemas[address] ?? resolveSchema.call(ajv, root, address)
  if (target !== undefined) return target
  const schema = root.localRefs?.[written]
  return schema && new SchemaEnv({ schema, schemaId: ajv.opts.schemaId, root, baseId })
}
