import { TEAM_PATTERN } from '@sluice/config'
import { GROUP_PATTERN, ManifestSchema } from '@sluice/control-client'
import { type Static, type TSchema, Type } from '@sluice/core'
import { Canary, CanaryProgress, CanarySettings } from '../store/canary.js'

const object = <T extends Record<string, TSchema>>(fields: T, options = {}) =>
  Type.Object(fields, { additionalProperties: false, ...options })
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const texts = Type.Array(Type.String())
const digest = Type.String({ pattern: '^[0-9a-f]{64}$' })
const deployNumber = Type.Integer({ minimum: 1 })
const group = Type.String({ pattern: GROUP_PATTERN, description: 'Name of a group.' })
const note = Type.String({ maxLength: 500, default: '' })
const limit = Type.Integer({ minimum: 1, maximum: 1000, default: 50 })

const scope = object(
  {
    team: Type.String({ pattern: TEAM_PATTERN }),
    routes: Type.Array(Type.String({ maxLength: 255 }), { minItems: 1, maxItems: 50 }),
  },
  { description: 'Team that a deployer is limited to, and path prefixes that its routes must lie under.' },
)

/** Options of deploys and rollbacks. */
const deployOptions = {
  note,
  quorumPercent: Type.Integer({
    minimum: 0,
    maximum: 100,
    default: 50,
    description: 'Share of the known members that must be prepared.',
  }),
  deadlineMs: Type.Integer({
    minimum: 1000,
    maximum: 270_000,
    default: 30_000,
    description: 'Time for members to prepare, in milliseconds.',
  }),
}

/** Body of a deploy. */
export const DeployBody = object({
  manifest: ManifestSchema,
  part: Type.Optional(
    Type.String({
      pattern: `^base$|${TEAM_PATTERN}`,
      description:
        'Part of the source that the manifest replaces: `base`, or a team. The controller composes it with the other ' +
        'parts of the committed source. Absent: the manifest is a whole bundle, or a whole source with `base.yaml`.',
    }),
  ),
  ...deployOptions,
  dryRun: Type.Boolean({ default: false, description: 'True: validate and compare only.' }),
  canary: Type.Optional(CanarySettings),
})
/** Body of a rollback. */
export const RollbackBody = object({
  to: Type.Optional(
    Type.Integer({ ...deployNumber, description: 'Default: the committed deploy before the last one.' }),
  ),
  ...deployOptions,
})
/** Body of a request for missing chunks. */
export const ChunksBody = object({ chunks: Type.Array(digest, { maxItems: 20_000 }) })
/** Body of a new token. */
export const TokenBody = object({
  name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$' }),
  role: Type.Union([
    Type.Literal('viewer'),
    Type.Literal('deployer'),
    Type.Literal('admin'),
    Type.Literal('member'),
  ]),
  groups: Type.Array(Type.String({ pattern: '^[A-Za-z0-9*._-]{1,128}$' }), { minItems: 1, maxItems: 50 }),
  scope: Type.Optional(scope),
})
/** Body of a login. */
export const LoginBody = object({ token: Type.String({ maxLength: 200 }) })

/** Parameters in paths and queries. */
export const GroupParams = object({ group })
export const DeployParams = object({ group, deploy: deployNumber })
export const FileParams = object({ group, deploy: deployNumber, '*': Type.String({ maxLength: 255 }) })
export const MemberParams = object({ group, member: Type.String({ pattern: '^[0-9a-f-]{36}$' }) })
export const TokenParams = object({ token: Type.String({ pattern: '^[0-9a-f-]{36}$' }) })
export const HistoryQuery = object({ limit, before: Type.Optional(deployNumber) })
export const DiffQuery = object({ from: Type.Optional(deployNumber), to: Type.Optional(deployNumber) })
export const MembersQuery = object({ group: Type.Optional(group) })
export const AuditQuery = object({
  limit,
  after: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Entries after this one. Default: the newest.' }),
  ),
  group: Type.Optional(group),
})

/** Parameter of requests for a manifest. */
export const ManifestQuery = object({
  source: Type.Boolean({ default: false, description: 'Files that the document was composed from.' }),
})

/** A deploy in responses. */
export const DeployView = object({
  deploy: deployNumber,
  group,
  digest,
  source: nullable(digest),
  note: Type.String(),
  rollbackTo: nullable(deployNumber),
  actor: Type.String(),
  at: Type.String({ format: 'date-time' }),
  controller: Type.String(),
  quorumPercent: Type.Integer(),
  deadlineMs: Type.Integer(),
  status: Type.Union([Type.Literal('pending'), Type.Literal('committed'), Type.Literal('aborted')]),
  reasons: texts,
  missing: texts,
  canary: nullable(Canary),
})
/** A group in responses. */
export const GroupView = object({
  name: Type.String(),
  head: nullable(DeployView),
  pending: nullable(DeployView),
  members: Type.Integer({ description: 'Number of known members.' }),
  connected: Type.Integer(),
  inSync: Type.Integer(),
  canary: nullable(CanaryProgress),
})
/** Response to an abortion. */
export const AbortView = object({ group, deploy: deployNumber })
/** A member in responses. */
export const MemberView = object({
  member: Type.String(),
  name: Type.String(),
  group: Type.String(),
  version: Type.String(),
  adminUrl: nullable(Type.String()),
  status: Type.Union([
    Type.Literal('inSync'),
    Type.Literal('drifted'),
    Type.Literal('canary'),
    Type.Literal('away'),
    Type.Literal('unmanaged'),
  ]),
  reason: nullable(Type.String()),
  digest: nullable(digest),
  deploy: Type.Integer(),
  lagDeploys: Type.Integer({ description: 'Number of committed deploys that the member has not activated.' }),
  isReady: Type.Boolean(),
  workers: Type.Integer(),
  clockDifferenceMs: Type.Integer({ description: 'Clock of the member minus clock of the controller.' }),
  figures: nullable(
    object({
      requestsPerSecond: Type.Number(),
      errorsPerSecond: Type.Number(),
      p99Ms: nullable(Type.Number()),
    }),
  ),
  controller: Type.String(),
  seenAgoMs: Type.Integer(),
})
const policyCost = object({
  use: Type.String(),
  uses: Type.Integer(),
  addedMicros: nullable(Type.Number({ description: 'Null: never measured.' })),
})
const change = object({
  kind: Type.String(),
  what: Type.String(),
  name: Type.String(),
  details: texts,
  cost: Type.Optional(object({ addedMicros: Type.Number(), policies: Type.Array(policyCost) })),
})
const diagnostic = Type.Object({
  severity: Type.String(),
  file: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
  path: Type.String(),
  message: Type.String(),
  remedy: Type.String(),
})
/** Result of a deploy, rollback or dry run. An aborted deploy is a problem with the same members. */
export const ResultView = Type.Union([
  object({
    result: Type.Literal('committed'),
    group,
    deploy: deployNumber,
    digest,
    reasons: texts,
    members: Type.Array(
      object({
        member: Type.String(),
        name: Type.String(),
        outcome: Type.Union([Type.Literal('active'), Type.Literal('away'), Type.Literal('pending')]),
        reason: nullable(Type.String()),
      }),
    ),
  }),
  object({ result: Type.Literal('unchanged'), group, deploy: deployNumber, digest }),
  object({
    result: Type.Literal('valid'),
    group,
    digest,
    changes: Type.Array(change),
    warnings: Type.Array(diagnostic),
  }),
])
/** Differences between two deploys. */
export const DiffView = object({
  from: nullable(deployNumber),
  to: deployNumber,
  changes: Type.Array(change),
})
/** A token in responses, without its text. */
export const TokenView = object({
  token: Type.String(),
  name: Type.String(),
  role: Type.String(),
  groups: texts,
  scope: nullable(scope),
  createdAt: Type.String(),
  createdBy: Type.String(),
  isRevoked: Type.Boolean(),
})
/** The caller in responses. */
export const SessionView = object({
  name: Type.String(),
  role: Type.String(),
  isLoginRequired: Type.Boolean(),
})
/** Ways to log in, besides tokens. */
export const LoginMethodsView = object({ openidConnect: Type.Boolean() })
/** Response to a logout, with the provider's logout page for people. */
export const LogoutView = object({ logoutUrl: nullable(Type.String()) })
/** Entry of the audit trail. Its other fields depend on the type. */
export const EntryView = Type.Object({
  seq: Type.Integer(),
  type: Type.String(),
  at: Type.String(),
  actor: Type.String(),
  address: nullable(Type.String()),
  controller: Type.String(),
})
/** A refusal (RFC 9457). */
export const ProblemView = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  code: Type.String(),
  detail: Type.String(),
})

export type DeployBody = Static<typeof DeployBody>
export type RollbackBody = Static<typeof RollbackBody>
