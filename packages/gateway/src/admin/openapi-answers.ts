/** Describes a refusal. */
export const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
})

/** Describes a JSON response by the name of its schema. */
export const json = (description: string, schema: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
})

/** Refusals of any call that requires a token. */
export const REFUSALS = {
  401: problem('The token is missing or not valid.'),
  403: problem('The role is not sufficient, or the Host or Origin field is refused.'),
  429: problem('Too many wrong tokens from this address; Retry-After tells when to try again.'),
}

/** Describes a POST that activates or discards a held document. */
export const settleOf = (summary: string, responses: object) => ({
  post: {
    summary,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/HeldDigest' } } },
    },
    responses: { ...responses, 404: problem('No such document is held.') },
  },
})

/** Describes a POST that drains or undrains targets. */
export const drainOf = (summary: string) => ({
  post: {
    summary,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/TargetName' } } },
    },
    responses: {
      200: json('The workers have applied it.', 'TargetStates'),
      400: problem('The body is malformed.'),
      ...REFUSALS,
      404: problem('There is no such upstream or target.'),
    },
  },
})
