import { Type } from '@sinclair/typebox'
import type { Configured } from '@sluice/core'
import { PRESETS } from '../../shared/message/security-presets.js'
import * as field from '../../shared/options/options.js'

function fieldsOf(preset: 'api' | 'web'): string {
  return Object.entries(PRESETS[preset])
    .map(([name, value]) => `\`${name}: ${value}\``)
    .join(', ')
}

/** Schema of the `security-headers` configuration. */
export const securityHeadersSchema = field.policyOptions(
  {
    preset: field.optionalOneOf(
      ['api', 'web', 'none'],
      'Set of fields: `api` for data, `web` for pages, `none` to use only `headers`.',
      'api',
    ),
    headers: field.optionalRecord(
      Type.Union(
        [
          field.string('Field value.', { minLength: 1, maxLength: 8192 }),
          Type.Literal(false, { description: 'Omits the field.' }),
        ],
        { description: 'Value that overrides the preset, or `false` to omit the field.' },
      ),
      'Security fields by name. They override the preset.',
      { maxProperties: 20 },
    ),
    overwrite: field.optionalFlag(
      false,
      'Replaces fields that the upstream sets. By default, they are kept.',
    ),
    remove: field.optionalList(
      field.string('Header name.', { minLength: 1, maxLength: 256 }),
      'Fields to remove.',
      { maxItems: 100, default: ['server', 'x-powered-by', 'x-aspnet-version', 'x-aspnetmvc-version'] },
    ),
  },
  [
    `\`api\`: ${fieldsOf('api')}.`,
    `\`web\`: ${fieldsOf('web')}.`,
    '`strict-transport-security` is sent over HTTPS only (RFC 6797, 7.2), also if a trusted proxy reports HTTPS. Other names for `headers`: `content-security-policy-report-only`, `cross-origin-embedder-policy`, `origin-agent-cluster`, `reporting-endpoints`.',
    'Put this policy first, so that refusals of later policies also get the fields.',
  ],
)

/** Configuration of `security-headers`, derived from its schema. */
export type SecurityHeadersConfig = Configured<typeof securityHeadersSchema>
