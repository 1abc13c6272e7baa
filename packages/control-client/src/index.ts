export { type ActiveBundle, BundleFolder } from './client/bundle-folder.js'
export type { ConnectionStatus, ConnectionTimes } from './client/control-connection.js'
export type { GatewayState, ManagedGateway, Outcome, PlacedBundle, Vote } from './client/managed-gateway.js'
export { Member, type MemberEvent } from './client/member.js'
export type { Credentials } from './client/open-socket.js'
export { type Chunk, chunkDigest, chunksOf, MAX_CHUNK_BYTES } from './manifest/chunks.js'
export {
  type Bundle,
  bundleOf,
  DOCUMENT_PATH,
  MAX_BUNDLE_BYTES,
  type Manifest,
  type ManifestFile,
  ManifestSchema,
  manifestDigest,
  manifestProblem,
} from './manifest/manifest.js'
export { packChunks, unpackChunks } from './manifest/packed-chunks.js'
export {
  type ControllerMessage,
  GROUP_PATTERN,
  LEAVING_CODE,
  MAX_MEMBER_MESSAGE_BYTES,
  MAX_MESSAGE_BYTES,
  MEMBERS_PATH,
  type MemberFigures,
  type MemberMessage,
  type MemberState,
  type MemberTotals,
  PROTOCOL_VERSION,
  parseControllerMessage,
  parseMemberMessage,
} from './protocol/messages.js'
