import { type Static, Type } from '@sinclair/typebox'
import {
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalRecord,
  policyOptions,
  string,
} from '../../shared/options.js'
import { PRESETS } from './presets.js'

/** What tells attackers which software an upstream runs. */
export const DEFAULT_REMOVED: readonly string[] = [
  'server',
  'x-powered-by',
  'x-aspnet-version',
  'x-aspnetmvc-version',
]

function fieldsOf(preset: 'api' | 'web'): string {
  return Object.entries(PRESETS[preset])
    .map(([name, value]) => `\`${name}: ${value}\``)
    .join(', ')
}

/** The configuration of `security-headers`. */
export const securityHeadersSchema = policyOptions(
  {
    preset: optionalOneOf(
      ['api', 'web', 'none'],
      'What responses get: `api` for data that no page shows by itself, `web` for pages, `none` for what `headers` says alone.',
      'api',
    ),
    headers: optionalRecord(
      Type.Union(
        [
          string('The value.', { minLength: 1, maxLength: 8192 }),
          Type.Literal(false, { description: 'Left out.' }),
        ],
        { description: 'A value in place of that of the preset, or `false`: the field is left out.' },
      ),
      'Security fields by their names, over those of the preset.',
      { maxProperties: 20 },
    ),
    overwrite: optionalFlag(false, 'Whether fields of the upstream are replaced too; else they stay.'),
    remove: optionalList(
      string('A header name.', { minLength: 1, maxLength: 256 }),
      'Fields that are removed.',
      {
        maxItems: 100,
        default: [...DEFAULT_REMOVED],
      },
    ),
  },
  [
    `\`api\`: ${fieldsOf('api')}.`,
    `\`web\`: ${fieldsOf('web')}.`,
    '`strict-transport-security` is sent over HTTPS only (RFC 6797, 7.2), also behind a trusted proxy that says so. Other names for `headers`: `content-security-policy-report-only`, `cross-origin-embedder-policy`, `origin-agent-cluster`, `reporting-endpoints`.',
    'Refusals of the policies after it have the fields too: put it first.',
  ],
)

/** The configuration of `security-headers`, derived from its schema. */
export type SecurityHeadersConfig = Static<typeof securityHeadersSchema>
