/*
 * The protocol of ibid as a model for Spin: workers that call `once` for one key over a store that is one conditional
 * register. It follows src/core/transitions.ts and src/engine/{acquire,attempt,settle,once,held-check,abandon,
 * housekeeping,resolve}.ts step by step. A step is one `atomic`: a store call being carried out, its answer arriving
 * (or getting lost), an effect landing, time passing. Between two steps anybody may act, time may pass, a worker may die.
 *
 * Time is the store's and abstract: TICK is longer than a lease, EXPIRE longer than a window and a lease. A worker is
 * stale when a lease has passed since it last began to ask. Waiting duplicates are not modelled (a duplicate is told
 * that it is in flight, and its worker calls again), nor are other payloads, and `transact`.
 *
 * What is assumed of the world outside, because nothing inside can make it so:
 *   - An effect that throws has landed or never will, unless it says so: a time-out, or an unknown outcome.
 *   - A person releases a held receipt only when no attempt of it can still do anything.
 *   - With SURE, so does a status check that meets a held receipt. Without SURE a check tells what has landed so far,
 *     and the receipt that it releases runs again as the attempt it was, unchecked: with AGAIN, it is checked first.
 *   - With LATE, an answer to "is it still mine?" that took longer than a lease is asked for again.
 *   - With FENCE, the downstream refuses an epoch below the highest that it was shown.
 *
 * Each step prints a line, `@ who what how | receipt`: scripts/model/traces.mjs replays those against the engine.
 */
#ifndef POLICY
#define POLICY HOLD
#endif
#ifndef NW
#define NW 2        /* workers */
#endif
#ifndef CALLS
#define CALLS 1     /* calls of each worker, one after the other */
#endif
#ifndef MAXATT
#define MAXATT 2    /* attempts before a person is asked */
#endif
/* How often, at most, in one run: */
#ifndef TICKS
#define TICKS 1     /* a lease passes */
#endif
#ifndef EXPIRES
#define EXPIRES 0   /* a window passes */
#endif
#ifndef LOSTS
#define LOSTS 1     /* a store call is refused, or its answer lost */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef ERRS
#define ERRS 1      /* an effect ends badly */
#endif
#ifndef SWEEPS
#define SWEEPS 1
#endif
#ifndef RESOLVES
#define RESOLVES 1
#endif
#ifndef UNCLEARS
#define UNCLEARS 0  /* a check cannot tell */
#endif

#define NC (NW * CALLS)
#define TRIES 3

#define HOLD  0
#define RETRY 1
#define CHECK 2

#define ABSENT    0
#define PENDING   1
#define RELEASED  2
#define SUCCEEDED 3
#define FAILED    4
#define UNKNOWN   5
#define LAPSE     6 /* an ending, not a state: pending, and the lease given up */

#define SWEEPER 20
#define PERSON  21
#define WORLD   22

mtype = { BEGIN, CLAIM, ANSWER, ASK, REGAIN, MOVE, CHECKS, EFFECT, SETTLE, LOOK, RESOLVE, END, LAND, DROP, RENEW,
  GIVEBACK, TICK, EXPIRE, CRASH, SCAN, SWEEP, PURGE, READ, DECIDE,
  WON, FOUND, OK, LOST, REFUSED, DONE, NOT, NOTFOUND, UNCLEAR, THREW, REJECTED, NOTEXEC, DOUBT, TIMEOUT, FENCED,
  REPLAY, INFLIGHT, HELD, LEASELOST, UNAVAILABLE }

/* The receipt. `ser` stands for the instant at which its lease or window ends. */
byte st, tok, att, ser, ep;
bool ended, gone;
byte floor;              /* the highest epoch that was purged */
byte inc;                /* which life of the key this is; a new one begins after the window */

/* What the proof remembers, and the protocol does not know. */
byte owner, high;
byte effects[EXPIRES + 2], counted[EXPIRES + 2];
bool overtaken[EXPIRES + 2];
byte fence;

/* Each call: its effect (1 in the air, 2 landed, 3 refused by the fence), its lease, what it left behind. */
byte fl[NC], fep[NC], finc[NC];
bool own[NC], under[NC], due[NC], lostlease[NC], ab[NC];
bool dead[NW], stale[NW], idle[NW];
#ifdef LATE
bool late[NW];           /* a lease has passed since it asked whether it still owns the receipt */
#define ASKED_NOW late[w] = 0
#define IS_LATE late[w]
#else
#define ASKED_NOW skip
#define IS_LATE false
#endif
byte working = NW;

byte ticks = TICKS, expires = EXPIRES, losts = LOSTS, crashes = CRASHES, errs = ERRS;
byte sweeps = SWEEPS, resolves = RESOLVES, unclears = UNCLEARS;

#define SAY(who, what, how) printf("@ %d %e %e | %d %d %d %d %d\n", who, what, how, st, tok, att, ended, ep)
#define SETTLED(s) (s == SUCCEEDED || s == FAILED)
#define ENDS(s) (SETTLED(s) || s == RELEASED)

/* The store: what a swap compares. */
#ifdef NO_TOKEN
#define SAME(t, s) (st == s)
#else
#define SAME(t, s) (st == s && tok == t)
#endif
/* A token has one life: a call that wins a receipt once more does so under another one, and has another epoch. */
#ifdef NO_TOKEN
#define SAMELIFE(t, s, e) SAME(t, s)
#else
#define SAMELIFE(t, s, e) (SAME(t, s) && ep == e)
#endif
#ifdef NO_UNTIL
#define SAMEUNTIL(t, s, u) SAME(t, s)
#else
#define SAMEUNTIL(t, s, u) (SAME(t, s) && ser == u)
#endif

inline put(s, t, a) {
  assert(!(SETTLED(st) && !ended));               /* a settled receipt never changes within its window */
  st = s; tok = t; att = a; ser++; ended = 0; gone = 0
}

inline hand_over(t, a, isNew) {
  if :: ep > floor -> ep = ep + 1 :: else -> ep = floor + 1 fi;
  assert(ep > high);                              /* the epoch never goes backwards */
  high = ep;
  if :: isNew -> inc++ :: else fi;
  put(PENDING, t, a);
  counted[inc] = a;
  owner = t;
  own[t - 1] = 1
}

inline renewed(t) {
  assert(t == owner);                             /* a zombie's swap never succeeds */
  put(PENDING, tok, att)
}

/* The downstream, asked whether attempt (e, i) has happened. */
inline ask_downstream(e, i) {
#ifdef FENCE
  if :: e < fence -> answer = UNCLEAR :: else -> fence = e; answer = OK fi;
#else
  answer = OK;
#endif
  if
  :: answer == UNCLEAR
  :: answer == OK && unclears > 0 -> unclears--; answer = UNCLEAR
  :: answer == OK && effects[i] > 0 -> answer = FOUND
  :: answer == OK && effects[i] == 0 -> answer = NOTFOUND
  fi
}

#define DANGER(k) (fl[k] == 1 || (own[k] && !dead[(k) / CALLS]))
#if NC == 1
#define QUIET (!DANGER(0))
#elif NC == 2
#define QUIET (!DANGER(0) && !DANGER(1))
#elif NC == 3
#define QUIET (!DANGER(0) && !DANGER(1) && !DANGER(2))
#elif NC == 4
#define QUIET (!DANGER(0) && !DANGER(1) && !DANGER(2) && !DANGER(3))
#else
#define QUIET (!DANGER(0) && !DANGER(1) && !DANGER(2) && !DANGER(3) && !DANGER(4) && !DANGER(5))
#endif

/* The end of a call, in the step that ends it. */
inline end_call(how) {
  SAY(w, END, how);
  own[f] = 0; under[f] = 0; lostlease[f] = 0;
  tried = 0; unans = 0; won = 0; done = 0; f_st = 0; f_tok = 0; f_att = 0; f_ser = 0; f_ended = 0; f_gone = 0;
  m_att = 0; m_ep = 0; m_inc = 0; to = 0; natt = 0; ev = 0; asked = 0; timedout = 0; second = 0; answer = OK
}

inline give_up() { ab[f] = 1; end_call(UNAVAILABLE) }

inline look_again() { stale[w] = 0; tried = 0; done = 0 }

inline fly() { fl[f] = 1; fep[f] = m_ep; finc[f] = m_inc }

/* An answer says that the receipt is ours: nothing starts on a lease that may be over. */
inline took(a) {
  m_att = a; m_ep = ep_seen; m_inc = inc_seen; second = 0;
  if :: stale[w] -> asked = 1; ASKED_NOW; goto asking :: else -> skip fi;
  start()
}

/* AGAIN: whoever is not the first to hold a receipt checks first, whatever the number of the attempt. */
#ifdef AGAIN
#define CHECKS_AGAIN ((f_st == RELEASED && !f_ended) || (f_st == PENDING && f_tok == t))
#else
#define CHECKS_AGAIN false
#endif

inline start() {
  under[f] = 1; due[f] = stale[w];
  if :: POLICY == CHECK && (m_att > 1 || CHECKS_AGAIN) -> goto checking :: else -> fly(); goto flying fi
}

inline settle_as(e) { ev = e; under[f] = 0; stale[w] = 0; tried = 0; goto settling }

/* The effect threw something that says nothing. */
inline ambiguous() {
  under[f] = 0;
  if
  :: POLICY == HOLD -> settle_as(UNKNOWN)
  :: POLICY == RETRY && m_att < MAXATT -> settle_as(LAPSE)
  :: POLICY == RETRY && m_att >= MAXATT -> settle_as(UNKNOWN)
  :: POLICY == CHECK -> goto afterwards
  fi
}

proctype Worker(byte w) {
  byte n, t, f, tried, unans, f_st, f_tok, f_att, f_ser, m_att, m_ep, m_inc, ep_seen, inc_seen, to, natt, ev, asked;
  bool won, done, f_ended, f_gone, timedout, second;
  mtype answer = OK;

begin:
  atomic {
    !dead[w];
    if :: n == CALLS -> goto stop :: else -> skip fi;
    n++; t = w * CALLS + n; f = t - 1; look_again(); SAY(w, BEGIN, OK)
  }

claiming:
  atomic {
    !dead[w];
    if
    :: losts > 0 -> losts--; tried++; SAY(w, CLAIM, REFUSED);
      if :: tried < TRIES -> goto claiming :: else -> give_up(); goto begin fi
    :: st == ABSENT -> won = 1;
#ifndef READ_THEN_INSERT
      hand_over(t, 1, 1); ep_seen = ep; inc_seen = inc;
      SAY(w, CLAIM, WON)
#endif
    :: st != ABSENT -> won = 0; f_st = st; f_tok = tok; f_att = att; f_ser = ser; f_ended = ended; f_gone = gone;
      ep_seen = ep; inc_seen = inc; SAY(w, CLAIM, FOUND)
    fi
  }
#ifdef READ_THEN_INSERT
  atomic {
    !dead[w];
    if :: won -> hand_over(t, 1, st == ABSENT); ep_seen = ep; inc_seen = inc; SAY(w, CLAIM, WON) :: else -> skip fi
  }
#endif
  atomic {
    !dead[w];
    if
    :: losts > 0 -> losts--; tried++; won = 0; SAY(w, ANSWER, LOST);
      if :: tried < TRIES -> goto claiming :: else -> give_up(); goto begin fi
    :: won -> SAY(w, ANSWER, OK); f_st = ABSENT; took(1)
    :: !won -> SAY(w, ANSWER, OK);
#ifdef LOCAL_CLOCK
      if :: f_st == PENDING -> f_ended = 1 :: skip fi;      /* this worker's clock is ahead */
#endif
      if
      :: f_tok == t && f_st == PENDING -> stale[w] = 0; goto regaining
      :: else -> skip
      fi;
      if
      :: ENDS(f_st) && f_ended -> to = PENDING; natt = 1
      :: SETTLED(f_st) && !f_ended -> end_call(REPLAY); goto begin
      :: f_st == UNKNOWN && POLICY == CHECK -> goto holding
      :: f_st == UNKNOWN && POLICY != CHECK -> end_call(HELD); goto begin
      :: f_st == PENDING && !f_ended -> end_call(INFLIGHT); goto begin
      :: f_st == RELEASED && !f_ended -> to = PENDING; natt = f_att
      :: f_st == PENDING && f_ended ->
        if
        :: POLICY == HOLD || f_att >= MAXATT || f_gone -> to = UNKNOWN; natt = f_att
        :: else -> to = PENDING; natt = f_att + 1
        fi
      fi;
      stale[w] = 0
    fi
  }

/* moving: what was found changes hands, or is held */
  atomic {
    !dead[w];
    if
    :: losts > 0 -> losts--; unans++; SAY(w, MOVE, REFUSED);
      if :: unans < TRIES -> look_again(); goto claiming :: else -> give_up(); goto begin fi
    :: SAMEUNTIL(f_tok, f_st, f_ser) -> done = 1;
      assert(st != PENDING || ended);             /* nobody takes a lease that is alive */
      if
      :: to == PENDING -> hand_over(t, natt, ENDS(f_st) && f_ended); ep_seen = ep; inc_seen = inc
      :: else -> put(UNKNOWN, tok, att)
      fi;
      SAY(w, MOVE, DONE)
    :: !SAMEUNTIL(f_tok, f_st, f_ser) -> done = 0; SAY(w, MOVE, NOT)
    fi
  }
  atomic {
    !dead[w];
    if
    :: losts > 0 -> losts--; unans++; SAY(w, ANSWER, LOST);
      if :: unans < TRIES -> look_again(); goto claiming :: else -> give_up(); goto begin fi
    :: done && to == PENDING -> SAY(w, ANSWER, OK); done = 0; took(natt)
    :: done && to != PENDING -> SAY(w, ANSWER, OK); end_call(HELD); goto begin
    :: !done -> SAY(w, ANSWER, OK); look_again(); goto claiming
    fi
  }

regaining: /* ours, but the answer that said so was lost */
  atomic {
    !dead[w];
    if
    :: losts > 0 -> losts--; unans++; SAY(w, REGAIN, REFUSED);
      if :: unans < TRIES -> look_again(); goto claiming :: else -> give_up(); goto begin fi
    :: SAMEUNTIL(t, PENDING, f_ser) -> done = 1; renewed(t); SAY(w, REGAIN, DONE)
    :: !SAMEUNTIL(t, PENDING, f_ser) -> done = 0; SAY(w, REGAIN, NOT)
    fi
  }
  atomic {
    !dead[w];
    if
    :: losts > 0 -> losts--; unans++; SAY(w, ANSWER, LOST);
      if :: unans < TRIES -> look_again(); goto claiming :: else -> give_up(); goto begin fi
    :: done -> SAY(w, ANSWER, OK); done = 0; took(f_att)
    :: !done -> SAY(w, ANSWER, OK); look_again(); goto claiming
    fi
  }

asking: /* time has passed since the claim, or during a check: is it still ours? */
  atomic {
    !dead[w];
    if
    :: second && lostlease[f] -> end_call(LEASELOST); goto begin
    :: !(second && lostlease[f]) && losts > 0 -> losts--; SAY(w, ASK, REFUSED);
      if :: second -> goto afterwards :: else -> give_up(); goto begin fi
    :: !(second && lostlease[f]) && SAME(t, PENDING) -> done = 1; renewed(t); SAY(w, ASK, DONE)
    :: !(second && lostlease[f]) && !SAME(t, PENDING) -> done = 0; SAY(w, ASK, NOT)
    fi
  }
  atomic {
    !dead[w];
    if
    :: second && lostlease[f] -> end_call(LEASELOST); goto begin
    :: !(second && lostlease[f]) && losts > 0 -> losts--; SAY(w, ANSWER, LOST);
      if :: second -> under[f] = 0; goto afterwards :: else -> give_up(); goto begin fi
    :: !(second && lostlease[f]) && !done -> SAY(w, ANSWER, OK); end_call(LEASELOST); goto begin
    :: !(second && lostlease[f]) && done && IS_LATE && asked < TRIES ->
      SAY(w, ANSWER, OK); done = 0; asked++; ASKED_NOW; goto asking
    :: !(second && lostlease[f]) && done && IS_LATE && asked == TRIES ->
      SAY(w, ANSWER, OK); if :: second -> under[f] = 0; goto afterwards :: else -> give_up(); goto begin fi
    :: !(second && lostlease[f]) && done && !(IS_LATE) && second ->
      SAY(w, ANSWER, OK); done = 0; asked = 0; fly(); goto flying
    :: !(second && lostlease[f]) && done && !(IS_LATE) && !second -> SAY(w, ANSWER, OK); done = 0; asked = 0; start()
    fi
  }

checking: /* a later attempt of a checked effect: an earlier one may have done it */
  atomic {
    !dead[w];
    if :: lostlease[f] -> end_call(LEASELOST); goto begin :: else -> skip fi;
    ask_downstream(m_ep, m_inc);
    SAY(w, CHECKS, answer);
    if
    :: answer == FOUND -> settle_as(SUCCEEDED)
    :: answer == UNCLEAR -> settle_as(UNKNOWN)
    :: answer == NOTFOUND && stale[w] -> second = 1; asked = 1; ASKED_NOW; goto asking
    :: answer == NOTFOUND && !stale[w] -> fly(); goto flying
    fi
  }

flying:
  atomic {
    !dead[w];
    if
    :: lostlease[f] -> end_call(LEASELOST); goto begin
    :: !lostlease[f] && fl[f] == 2 -> SAY(w, EFFECT, OK); settle_as(SUCCEEDED)
    :: !lostlease[f] && fl[f] == 2 && errs > 0 -> errs--; SAY(w, EFFECT, THREW); ambiguous()
    :: !lostlease[f] && fl[f] == 3 -> fl[f] = 0; SAY(w, EFFECT, THREW); ambiguous()
    :: !lostlease[f] && fl[f] == 1 && errs > 0 -> errs--;
      if
      :: fl[f] = 0; SAY(w, EFFECT, REJECTED); settle_as(FAILED)
      :: fl[f] = 0; SAY(w, EFFECT, NOTEXEC); settle_as(RELEASED)
      :: fl[f] = 0; SAY(w, EFFECT, THREW); ambiguous()
      :: SAY(w, EFFECT, DOUBT); settle_as(UNKNOWN)
      :: timedout = 1; SAY(w, EFFECT, TIMEOUT); ambiguous()
      fi
    fi
  }

afterwards: /* it failed, and says nothing: did it happen? */
  atomic {
    !dead[w];
    under[f] = 0;
    ask_downstream(m_ep, m_inc);
    SAY(w, CHECKS, answer);
    if
    :: answer == FOUND -> settle_as(SUCCEEDED)
    :: answer == NOTFOUND && timedout -> settle_as(LAPSE)
    :: answer == NOTFOUND && !timedout -> settle_as(RELEASED)
    :: answer == UNCLEAR -> settle_as(UNKNOWN)
    fi
  }

settling:
  atomic {
    !dead[w];
    if
    :: losts > 0 -> losts--; tried++; SAY(w, SETTLE, REFUSED);
      if :: tried >= TRIES && stale[w] -> end_call(UNAVAILABLE); goto begin :: else -> goto settling fi
#ifdef SETTLE_BLIND
    :: done = 1;
#else
    :: !SAME(t, PENDING) -> done = 0; SAY(w, SETTLE, NOT)
    :: SAME(t, PENDING) -> done = 1;
      assert(t == owner);                         /* a zombie's swap never succeeds after the takeover */
#endif
      assert(ev != SUCCEEDED || effects[m_inc] > 0);
      if
      :: ev == LAPSE -> put(PENDING, tok, att); ended = 1
      :: else -> put(ev, t, m_att)
      fi;
      SAY(w, SETTLE, DONE)
    fi
  }
  atomic {
    !dead[w];
    if
    :: losts > 0 -> losts--; tried++; SAY(w, ANSWER, LOST);
      if :: tried >= TRIES && stale[w] -> end_call(UNAVAILABLE); goto begin :: else -> goto settling fi
    :: done -> SAY(w, ANSWER, OK); end_call(DONE); goto begin
    :: !done -> SAY(w, ANSWER, OK)
    fi
  }
  atomic { /* it says no: was an earlier try made, and only its answer lost? */
    !dead[w];
    if
    :: losts > 0 -> losts--; tried++; SAY(w, LOOK, REFUSED);
      if :: tried >= TRIES && stale[w] -> end_call(UNAVAILABLE); goto begin :: else -> goto settling fi
    :: SAY(w, LOOK, OK);
      if
      :: tok == t && (st == ev || (ev == LAPSE && st == PENDING)) -> end_call(DONE)
      :: else -> end_call(LEASELOST)
      fi;
      goto begin
    fi
  }

holding: /* a held receipt, met by somebody who can check */
  atomic {
    !dead[w];
#ifdef SURE
    if
    :: effects[inc_seen] == 0 && !QUIET -> answer = UNCLEAR
    :: else -> ask_downstream(ep_seen, inc_seen)
    fi;
#else
    ask_downstream(ep_seen, inc_seen);
#endif
    SAY(w, CHECKS, answer);
    if
    :: answer == UNCLEAR || (answer == NOTFOUND && f_att >= MAXATT) -> end_call(HELD); goto begin
    :: answer == FOUND -> to = SUCCEEDED
    :: answer == NOTFOUND && f_att < MAXATT -> to = RELEASED
    fi
  }
  atomic {
    !dead[w];
    if
    :: losts > 0 -> losts--; SAY(w, RESOLVE, REFUSED); end_call(UNAVAILABLE); goto begin
    :: SAMELIFE(f_tok, UNKNOWN, ep_seen) -> put(to, tok, att); SAY(w, RESOLVE, DONE)
    :: !SAMELIFE(f_tok, UNKNOWN, ep_seen) -> SAY(w, RESOLVE, NOT)
    fi
  }
  atomic {
    !dead[w];
    if
    :: losts > 0 -> losts--; SAY(w, ANSWER, LOST); end_call(UNAVAILABLE); goto begin
    :: SAY(w, ANSWER, OK); look_again(); goto claiming
    fi
  }

stop:
  atomic { idle[w] = 1; working--; n = 0; t = 0; f = 0; ep_seen = 0; inc_seen = 0; stale[w] = 0 }
}

/* A worker may die at any point. What it had sent may still land. */
proctype Fate(byte w) {
  byte k;
  atomic {
    crashes > 0 && !idle[w];
    crashes--; dead[w] = 1; working--; stale[w] = 0; k = w * CALLS;
    do
    :: k < (w + 1) * CALLS -> under[k] = 0; due[k] = 0; ab[k] = 0; lostlease[k] = 0; k++
    :: else -> break
    od;
    k = 0;
    SAY(w, CRASH, OK)
  }
}

/* What goes on in the background of one call: its effect on the way, its lease being kept, a claim given back. */
proctype Background(byte k) {
  do
  :: atomic {
      fl[k] == 1;
#ifdef FENCE
      if
      :: fep[k] < fence -> fl[k] = 3; SAY(k + 1, LAND, FENCED); goto next
      :: else -> fence = fep[k]
      fi;
#endif
      fl[k] = 2;
      effects[finc[k]]++;
      if :: ep != fep[k] -> overtaken[finc[k]] = 1 :: else -> skip fi;
      SAY(k + 1, LAND, OK);
      if
      :: POLICY == HOLD -> assert(effects[finc[k]] <= 1)
      :: POLICY == RETRY -> assert(effects[finc[k]] <= counted[finc[k]])
#ifdef FENCE
      :: POLICY == CHECK -> assert(effects[finc[k]] <= 1)
#else
      :: POLICY == CHECK -> assert(effects[finc[k]] <= 1 || overtaken[finc[k]])
#endif
      fi
    }
  :: atomic { fl[k] == 1 && !under[k]; fl[k] = 0; SAY(k + 1, DROP, OK) }
  :: atomic {
      due[k];
      due[k] = 0;
      if
      :: losts > 0 -> losts--; SAY(k + 1, RENEW, REFUSED)
      :: SAME(k + 1, PENDING) -> renewed(k + 1); SAY(k + 1, RENEW, DONE)
      :: !SAME(k + 1, PENDING) -> lostlease[k] = under[k]; under[k] = 0; SAY(k + 1, RENEW, NOT)
      fi
    }
  :: atomic {
      ab[k];
      ab[k] = 0;
      if
      :: SAME(k + 1, PENDING) && att == 1 -> assert(owner == k + 1); put(RELEASED, tok, att); SAY(k + 1, GIVEBACK, DONE)
      :: else -> SAY(k + 1, GIVEBACK, NOT)
      fi
    }
next: skip
  od
}

/* The world is busy as long as somebody works or something is in the air; after that, time makes no difference. */
inline time_passes() {
  k = 0;
  do
  :: k < NW -> stale[k] = !idle[k] && !dead[k];
#ifdef LATE
    late[k] = stale[k];
#endif
    k++
  :: else -> break
  od;
  k = 0;
  do
  :: k < NC -> due[k] = due[k] || under[k]; k++
  :: else -> break
  od;
  k = 0
}

proctype Clock() {
  byte k;
  do
  :: atomic {
      ticks > 0 && working > 0;
      ticks--;
      if :: st == PENDING -> ended = 1 :: else -> skip fi;
      time_passes();
      SAY(WORLD, TICK, OK)
    }
  :: atomic {
      expires > 0 && working > 0;
      expires--;
      if
      :: st == PENDING -> ended = 1; gone = 1
      :: ENDS(st) -> ended = 1
      :: else -> skip
      fi;
      time_passes();
      SAY(WORLD, EXPIRE, OK)
    }
  od
}

proctype Sweeper() {
  byte s_tok, s_ser;
  bool lapsed;
  do
  :: atomic {
      sweeps > 0 && ended;
      sweeps--;
      s_tok = tok; s_ser = ser;
      lapsed = st == PENDING && (POLICY == HOLD || att >= MAXATT || gone);
      SAY(SWEEPER, SCAN, OK)
    }
    if
    :: atomic {
        lapsed;
        if
        :: SAMEUNTIL(s_tok, PENDING, s_ser) ->
          assert(ended);
          put(UNKNOWN, tok, att);
          SAY(SWEEPER, SWEEP, DONE)
        :: else -> SAY(SWEEPER, SWEEP, NOT)
        fi
      }
    :: !lapsed
    fi;
    atomic {
      lapsed = 0; s_tok = 0; s_ser = 0;
      if
      :: ENDS(st) && ended ->
#ifndef NO_FLOOR
        if :: ep > floor -> floor = ep :: else -> skip fi;
#endif
        st = ABSENT; tok = 0; att = 0; ep = 0; ended = 0; gone = 0;
        SAY(SWEEPER, PURGE, DONE)
      :: else -> SAY(SWEEPER, PURGE, NOT)
      fi
    }
  od
}

proctype Person() {
  byte p_tok, p_ep, as;
  do
  :: atomic {
      resolves > 0 && st == UNKNOWN && (effects[inc] > 0 || QUIET);
      resolves--;
      p_tok = tok; p_ep = ep;
      if
      :: effects[inc] > 0 -> as = SUCCEEDED
      :: effects[inc] == 0 -> as = FAILED
      :: effects[inc] == 0 -> as = RELEASED
      fi;
      SAY(PERSON, READ, OK)
    }
    atomic {
      if
      :: SAMELIFE(p_tok, UNKNOWN, p_ep) -> put(as, tok, att); SAY(PERSON, DECIDE, DONE)
      :: else -> SAY(PERSON, DECIDE, NOT)
      fi;
      p_tok = 0; p_ep = 0; as = 0
    }
  od
}

/* When nothing moves any more, all calls have ended, and a window later the receipt is settled, released or held. */
proctype Judge() {
  byte k;
  atomic {
    timeout;
    do
    :: k < NW -> assert(idle[k] || dead[k]); k++
    :: else -> break
    od;
    if :: st == PENDING -> ended = 1; gone = 1 :: else -> skip fi;
    if :: st == PENDING && (POLICY == HOLD || att >= MAXATT || gone) -> put(UNKNOWN, tok, att) :: else -> skip fi;
    assert(st != PENDING);
    assert(st != SUCCEEDED || effects[inc] > 0);
    if
    :: ticks == TICKS && losts == LOSTS && crashes == CRASHES && errs == ERRS && expires == EXPIRES ->
      assert(st == SUCCEEDED && effects[inc] == 1)
    :: else -> skip
    fi;
    SAY(WORLD, END, OK)
  }
}

init {
  byte k;
  atomic {
    do
    :: k < NW -> run Worker(k); run Fate(k); k++
    :: else -> break
    od;
    k = 0;
    do
    :: k < NC -> run Background(k); k++
    :: else -> break
    od;
    k = 0;
    run Clock();
    run Sweeper();
    run Person();
    run Judge()
  }
}
