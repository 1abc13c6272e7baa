/** Exports of uWebSockets.js that are missing from its type declarations. */
import 'uWebSockets.js'

declare module 'uWebSockets.js' {
  /** Sets a library-wide switch. `silent` omits the `uWebSockets` response field. */
  export function _cfg(option: 'silent'): void

  /** Methods for fragmented messages. They return the same values as `send`. */
  interface WebSocket<UserData> {
    sendFirstFragment(payload: RecognizedString, isBinary?: boolean): number
    sendFragment(payload: RecognizedString): number
    sendLastFragment(payload: RecognizedString): number
  }
}
