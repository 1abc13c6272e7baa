import { digest, listOf, object, origin, ref, text, time } from './openapi-parts.js'

const deployMembers = { id: text, at: time, digest: text, origin, actor: text, note: text }
const rollbackTo = { ...text, description: 'Id of the deploy whose document was applied again.' }

/** Schemas of deploys and rollbacks. */
export const DEPLOY_SCHEMAS = {
  Deploys: object({ digest, deploys: listOf(ref('Deploy')) }),
  Deploy: object(deployMembers, { rollbackTo }),
  Applied: object(
    {
      result: { enum: ['applied', 'unchanged', 'valid', 'prepared'] },
      digest,
      changes: listOf(ref('Change')),
      warnings: listOf(ref('Diagnostic')),
    },
    { rollback: ref('RollbackTarget') },
  ),
  RollbackTarget: object(
    {
      ...deployMembers,
      wasRolledBack: { type: 'boolean', description: 'True if a rollback has replaced its document.' },
    },
    { rollbackTo },
  ),
  Rollback: {
    type: 'object',
    additionalProperties: false,
    properties: {
      to: {
        ...text,
        description:
          'Id of a deploy. Omit it for the newest one with another document that was not rolled back.',
      },
      note: text,
    },
  },
}
