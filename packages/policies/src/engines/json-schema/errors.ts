/** Error codes of policies that validate messages. */
export const JSON_SCHEMA_ERRORS = {
  GW_SCHEMA_INVALID: {
    status: 400,
    title: 'Schema validation failed',
    when: 'The request does not match the schema of `json-schema`, `xsd` or `openapi`. The detail lists the locations.',
    remedy: 'Correct the values at the locations in the detail.',
  },
} as const
