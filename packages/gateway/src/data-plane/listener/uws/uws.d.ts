/** What uWebSockets.js exports and its type declarations leave out. */
import 'uWebSockets.js'

declare module 'uWebSockets.js' {
  /** Sets a library-wide switch; `silent` leaves out the `uWebSockets` response field. */
  export function _cfg(option: 'silent'): void

  /** Messages in fragments; they answer as `send` does. */
  interface WebSocket<UserData> {
    sendFirstFragment(payload: RecognizedString, isBinary?: boolean): number
    sendFragment(payload: RecognizedString): number
    sendLastFragment(payload: RecognizedString): number
  }
}
