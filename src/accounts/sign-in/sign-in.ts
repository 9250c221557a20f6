/**
 * Sign-in (D61): by e-mail and password, by a one-time link, or by an e-mail that a provider has verified.
 * Knows no HTTP.
 */
import { memberProblem, type Problem, Refusal } from '../../errors.ts'
import type { Transaction } from '../../records/store.ts'
import type { Origin } from '../../records/write/protocol.ts'
import type { Caller } from '../../rights/visibility.ts'
import type { AuthenticatedCaller, Callers } from '../callers.ts'
import type { Everywhere } from '../everywhere.ts'
import { accountOf } from '../token.ts'
import type { Hashing } from './hashing.ts'
import { consumeLink, type FoundLink, findLink } from './links.ts'
import { canBePassword, type Owner, passwordProblem } from './password.ts'
import {
  changePassword,
  comparedEmail,
  isSameMailbox,
  ownPassword,
  type Person,
  peopleMax,
  peopleOf,
} from './people.ts'
import { endSessionOf, type NewSession, newSession, type SignInOrigin, saveSession } from './sessions.ts'
import type { Throttle } from './throttle.ts'

export type ClientInfo = SignInOrigin & {
  /** part of the address that identifies one customer */
  readonly network: string
  /** correlates the events of a sign-in (D69) */
  readonly requestId: string
  /** header that carries the trace of the request on (D169) */
  readonly traceparent: string | null
  /** session that the browser has already; the new one replaces it */
  readonly session: string | null
}

export type SignInOptions = {
  readonly db: Transaction & Everywhere
  readonly callers: Callers
  readonly hashing: Hashing
  readonly throttle: Throttle
}

export class SignIn {
  readonly #db: Transaction & Everywhere
  readonly #callers: Callers
  readonly #hashing: Hashing
  readonly #throttle: Throttle

  constructor({ db, callers, hashing, throttle }: SignInOptions) {
    this.#db = db
    this.#callers = callers
    this.#hashing = hashing
    this.#throttle = throttle
  }

  /**
   * The secret of a new session. Throws `sign_in_failed`, `rate_limited`, `overloaded`, and `account_needed`
   * if the password is right in several accounts. Unknown users and users without a password cost the same
   * time, to prevent enumeration.
   */
  async byPassword(
    { email, password, account }: { email: string; password: string; account: number | null },
    client: ClientInfo,
  ): Promise<string> {
    const { right } = await this.#judged(email, client.network, async () => {
      const people = await peopleOf(this.#db, email, account)
      const right: Person[] = []
      for (const hash of people.length ? people.map(person => person.hash) : [null])
        if (await this.#isRight(password, hash)) right.push(people.find(person => person.hash === hash)!)
      // A password that is right in one account may be a guess in another, whose user has the same e-mail.
      const withPassword = people.filter(({ hash }) => hash !== null)
      return { right, isRight: right.length > 0 && right.length === withPassword.length }
    })
    if (right.length === 0) throw signInFailed()
    const person = onlyOne(right)
    const newHash = this.#hashing.isOld(person.hash!) ? await this.#hashing.hash(password) : null
    return this.#signedIn(person, client, { hash: person.hash!, newHash })
  }

  /**
   * The secret of a new session, for a link; `password`: the one that the link sets. Throws `unauthenticated`
   * for an unknown link, `link_ended`, and `validation_failed` for the password.
   */
  async byLink(secret: string, password: string | null, client: ClientInfo): Promise<string> {
    const link = await findLink(this.#db, secret)
    if (!link) throw new Refusal('unauthenticated', 'There is no such link; copy the whole of it.')
    if (!link.isOpen) throw linkEnded()
    refusePassword(password, link)
    const hash = password === null ? null : await this.#hashing.hash(password)
    const { account, user } = link
    const session = newSession(account, client)
    const isUsed = await this.#saved(account, user, client, caller =>
      consumeLink(this.#db, caller, secret, session, hash),
    )
    if (!isUsed) throw linkEnded()
    this.#callers.forget(account)
    return this.#inPlaceOf(client, session)
  }

  /** The secret of a new session, for an e-mail verified by a provider. Throws `forbidden`. */
  async byVerifiedEmail(email: string, account: number | null, client: ClientInfo): Promise<string> {
    const alike = await peopleOf(this.#db, email, account)
    const people = alike.filter(person => isSameMailbox(person.email, email))
    if (people.length === 0)
      throw new Refusal('forbidden', `No user who may sign in has the e-mail ${email}: ask an administrator.`)
    return this.#signedIn(onlyOne(people), client, null)
  }

  /**
   * Changes the caller's password, and ends their other sessions. Throws `validation_failed` and
   * `rate_limited`. Users who may create links can set a first password; others need such a link.
   */
  async changePassword(
    caller: Pick<AuthenticatedCaller, 'catalog' | 'actor' | 'token' | 'session' | 'rights'>,
    currentPassword: string | null,
    password: string,
    client: ClientInfo,
  ): Promise<void> {
    const own = await ownPassword(this.#db, caller)
    const { hash } = own
    const wrong =
      hash === null
        ? firstProblem(currentPassword, caller.rights.isAdmin)
        : await this.#currentProblem(currentPassword, { ...own, hash }, client)
    const problems = [wrong, weakness(password, own)].filter(problem => problem !== null)
    if (problems.length) throw notChanged(problems)
    const newHash = await this.#hashing.hash(password)
    const { catalog, actor, token, session } = caller
    const isSaved = await this.#saved(catalog.account.id, actor, client, author =>
      changePassword(this.#db, { ...author, token, session }, hash, newHash),
    )
    const changed = 'The password was changed meanwhile: give the one that it is now.'
    if (!isSaved) throw notChanged([memberProblem('current_password', 'invalid_value', changed)])
    this.#callers.forget(catalog.account.id)
  }

  /** Why the given current password was rejected; null if it is right. */
  async #currentProblem(
    given: string | null,
    { email, hash }: { email: string; hash: string },
    { network }: ClientInfo,
  ): Promise<Problem | null> {
    if (given === null)
      return memberProblem('current_password', 'required', 'current_password must be given.')
    const judge = async () => ({ isRight: await this.#isRight(given, hash) })
    const { isRight } = await this.#judged(email, network, judge)
    return isRight
      ? null
      : memberProblem('current_password', 'invalid_value', 'current_password is not your password.')
  }

  /**
   * The result of `judge`; counts as an attempt unless the password is right. Throws `rate_limited`, and
   * `overloaded` before any count or look-up.
   */
  async #judged<T extends { readonly isRight: boolean }>(
    email: string,
    network: string,
    judge: () => Promise<T>,
  ): Promise<T> {
    this.#hashing.refuseIfFull()
    const settle = this.#throttle.attempt(comparedEmail(email), network)
    let isWrong = false
    try {
      const judged = await judge()
      isWrong = !judged.isRight
      return judged
    } finally {
      settle(isWrong)
    }
  }

  /** An invalid password costs as much time as any other. */
  #isRight(password: string, hash: string | null): Promise<boolean> {
    return this.#hashing.isRight(canBePassword(password) ? password : '', hash)
  }

  async #signedIn(
    { account, user }: Person,
    client: ClientInfo,
    judged: { hash: string; newHash: string | null } | null,
  ): Promise<string> {
    const session = newSession(account, client)
    const isSaved = await this.#saved(account, user, client, caller =>
      saveSession(this.#db, caller, session, judged),
    )
    if (!isSaved) throw signInFailed()
    return this.#inPlaceOf(client, session)
  }

  /**
   * Saves for a user with the account's current configuration. Retries once on a conflict with a newer one.
   */
  async #saved(
    account: number,
    actor: number,
    { requestId, traceparent }: ClientInfo,
    save: (caller: Caller & Origin) => Promise<boolean>,
  ): Promise<boolean> {
    const origin = { actor, requestId, traceparent }
    const attempt = async () => save({ catalog: await this.#callers.catalogNow(account), ...origin })
    return (await attempt()) || attempt()
  }

  /** A browser has one session: a new one replaces its earlier one. */
  async #inPlaceOf({ session: before }: ClientInfo, { secret }: NewSession): Promise<string> {
    const account = before === null ? null : accountOf('session', before)
    if (account === null) return secret
    await endSessionOf(this.#db, account, before!)
    this.#callers.forgetSecret(before!)
    return secret
  }
}

/** Throws `account_needed` with the candidate accounts. */
function onlyOne(people: readonly Person[]): Person {
  if (people.length === 1) return people[0]!
  const problem = {
    ...memberProblem('account', 'required', 'account must say in which account to sign in.'),
    candidates: people.map(({ account, accountName }) => ({ id: account, name: accountName })),
  }
  throw new Refusal('account_needed', 'The e-mail has users in several accounts; say in which.', [problem])
}

/** Independent of the e-mail: it must not reveal how many users have it. */
function signInFailed(): Refusal {
  const message = `The e-mail or the password is wrong. An e-mail in use in more than ${peopleMax} accounts needs the account, too.`
  return new Refusal('sign_in_failed', message)
}

function linkEnded(): Refusal {
  const message = 'The link was used, has ended, or a newer one was made: ask an administrator.'
  return new Refusal('link_ended', message)
}

function notChanged(problems: readonly Problem[]): Refusal {
  return new Refusal('validation_failed', 'The password was not changed.', problems)
}

/** Why a first password can't be set here; null if it can. */
function firstProblem(currentPassword: string | null, mayMakeLinks: boolean): Problem | null {
  if (mayMakeLinks && currentPassword === null) return null
  const todo = mayMakeLinks
    ? 'leave current_password out to set one.'
    : 'an administrator makes a link with which you set one.'
  return memberProblem('current_password', 'invalid_value', `You have no password yet: ${todo}`)
}

/** Invitations and resets set a password; links that only sign in don't. */
function refusePassword(password: string | null, link: FoundLink): void {
  const isWanted = link.purpose !== 'sign_in'
  const weak = isWanted && password !== null ? weakness(password, link) : null
  if (weak) throw new Refusal('validation_failed', 'The password was not set.', [weak])
  if (isWanted === (password !== null)) return
  const message = isWanted
    ? 'password must be given: the link sets it.'
    : 'This link only signs you in: leave the password empty.'
  const problem = memberProblem('password', isWanted ? 'required' : 'invalid_value', message)
  throw new Refusal('validation_failed', 'The link was not used.', [problem])
}

function weakness(password: string, owner: Owner): Problem | null {
  const found = passwordProblem(password, owner)
  return found && { field: 'password', path: '/password', ...found }
}
