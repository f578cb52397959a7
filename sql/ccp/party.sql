-- needs: ccp/stats.sql
-- Those who move together in ccp: what movement they have, their way, where they end: 3.3.1.2, 4, 5.1, 15.2.2, O29.2.
--
-- A unit may spend, at every step, its movement as it is in the hex that it leaves, less what it has
-- spent; a leader adds to it where he stands, and all the way where he goes along.

drop type if exists ccp.mover cascade;
create type ccp.mover as (
  id bigint,
  code text,
  side text,
  kind text,
  q integer,
  r integer,
  label text,
  attributes jsonb,
  follows boolean,
  command integer,
  broken_leader text,
  halves integer
);

comment on type ccp.mover is
'One of those who move, with its own movement in halves, before command; null: the counter does not tell.';

drop type if exists ccp.party cascade;
create type ccp.party as (
  state positions.state,
  unit text,
  options jsonb,
  side text,
  q integer,
  r integer,
  label text,
  ids bigint array,
  apart text,
  untold text,
  untold_command text,
  squads integer,
  leaders integer,
  carried integer,
  points integer,
  night boolean,
  in_cave boolean,
  wire text,
  mines text,
  trench text,
  op_fire text,
  bridge text
);

comment on type ccp.party is
'Those who move together as one (O29.2): where from, what bounds their movement, and how contested points are read.';
comment on column ccp.party.apart is 'One that does not begin in the same hex';
comment on column ccp.party.untold is 'Whose movement is not told; untold_command: which leader''s command';
comment on column ccp.party.squads is 'Least movement of squads and teams; leaders: of those whom nobody leads';
comment on column ccp.party.carried is 'Command of the leaders who go along, in halves';
comment on column ccp.party.points is 'Points that the question gives, in halves';
comment on column ccp.party.wire is 'The readings in force: wire ccp-5, mines ccp-11, trench ccp-17, op_fire ccp-19, bridge ccp-24';

drop type if exists ccp.post cascade;
create type ccp.post as (
  q integer,
  r integer,
  led integer,
  untold text,
  broken text
);

comment on type ccp.post is
'Where leaders stay who do not go along: what they add in halves, whose command is not told, who is broken.';

drop type if exists ccp.order_step cascade;
create type ccp.order_step as (
  i integer,
  m integer,
  rule text,
  at text,
  effect text,
  note text,
  point text,
  halves integer,
  by text
);

comment on type ccp.order_step is
'A rule that speaks on a Move or an Advance: at step i of the way (0 before it, 1000 after it), in order of m.';

create or replace function ccp._movers(state positions.state, unit text, options jsonb)
returns setof ccp.mover
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    stat.id,
    stat.code,
    stat.side,
    stat.kind,
    stat.q,
    stat.r,
    stat.label,
    stat.attributes,
    stat.follows,
    stat.command,
    stat.broken_leader,
    (2 * (stat.attributes ->> 'movement')::numeric)::integer
    + 2 * stat.status
    + 2 * coalesce((stat.attributes -> 'weapon' ->> 'movement')::integer, 0)
  from ccp._stats(state) as stat
  where stat.code = _movers.unit
    or stat.code in (select jsonb_array_elements_text(_movers.options -> 'with'));
end
$$;

comment on function ccp._movers(positions.state, text, jsonb) is
'The unit that moves and those that go with it, each with its movement before command (O29, 4, 5.1).';

create or replace function ccp._party(state positions.state, unit text, options jsonb)
returns ccp.party
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  first positions.counter;
  other record;
  party ccp.party;
begin
  first := ccp._on_map(state.position_id, _party.unit);
  for other in
    select named.code
    from jsonb_array_elements_text(_party.options -> 'with') as named (code)
  loop
    if (ccp._on_map(state.position_id, other.code)).side <> first.side then
      raise exception '% is no friend of % and cannot move along', other.code, _party.unit
        using errcode = 'no_data_found';
    end if;
  end loop;
  select
    state,
    _party.unit,
    _party.options,
    first.side,
    first.q,
    first.r,
    first.label,
    array_agg(mover.id order by mover.id),
    min(mover.code) filter (where mover.q <> first.q or mover.r <> first.r),
    min(mover.code) filter (where mover.halves is null),
    min(mover.code) filter (where mover.kind in ('leader', 'hero') and mover.command is null),
    min(mover.halves) filter (where mover.follows),
    min(mover.halves) filter (where not mover.follows),
    2 * coalesce(sum(mover.command), 0)::integer,
    (2 * (_party.options ->> 'points')::numeric)::integer,
    coalesce((state.conditions ->> 'night')::boolean, false),
    bool_or(mover.side = 'japan' and coalesce((mover.attributes ->> 'in_cave')::boolean, false)),
    state.readings ->> 'ccp-5',
    state.readings ->> 'ccp-11',
    state.readings ->> 'ccp-17',
    state.readings ->> 'ccp-19',
    state.readings ->> 'ccp-24'
  into party
  from ccp._movers(state, _party.unit, _party.options) as mover;
  return party;
end
$$;

comment on function ccp._party(positions.state, text, jsonb) is
'A unit and those that go with it as one; refuses who is not there, is off the map, flies, or is of the other side.';

create or replace function ccp._allowance(party ccp.party, led integer)
returns integer
language sql immutable parallel safe
return case
  when party.points is not null then party.points
  when party.untold is not null then null
  else greatest(0, least(party.squads + party.carried + led, party.leaders))
end;

comment on function ccp._allowance(ccp.party, integer) is
'Halves that a party has in all where leaders who stay there add `led`: the slowest decides (O29.2, 3.3.1.2).';

create or replace function ccp._posts(party ccp.party)
returns setof ccp.post
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    stat.q,
    stat.r,
    2 * coalesce(sum(stat.command), 0)::integer,
    min(stat.code) filter (where stat.command is null),
    min(stat.code) filter (where (stat.attributes ->> 'broken')::boolean)
  from ccp._stats(party.state) as stat
  where stat.side = party.side
    and stat.kind in ('leader', 'hero')
    and not stat.id = any(party.ids)
  group by stat.q, stat.r;
end
$$;

comment on function ccp._posts(ccp.party) is
'Where leaders stay who do not go along, and what they add there to squads and teams, in halves (3.3.1.2).';

create or replace function ccp._allowance_steps(party ccp.party)
returns setof ccp.order_step
language sql stable rows 6
as $$
  select
    0,
    row_number() over (order by mover.code <> party.unit, mover.code, fact.n)::integer,
    fact.rule,
    mover.label,
    fact.effect,
    fact.note,
    fact.point,
    fact.halves,
    null
  from ccp._movers(party.state, party.unit, party.options) as mover
  cross join lateral (
    select
      mover.attributes -> 'weapon' as weapon,
      (mover.attributes -> 'weapon' ->> 'movement')::integer as burden,
      (2 * (mover.attributes ->> 'movement')::numeric)::integer as movement
  ) as counter
  left join lateral (
    select string_agg(leader.code, ', ' order by leader.code) as codes,
      sum(leader.command)::integer as command
    from ccp._stats(party.state) as leader
    where leader.side = mover.side
      and leader.q = mover.q
      and leader.r = mover.r
      and leader.kind in ('leader', 'hero')
      and leader.command > 0
  ) as led on mover.follows
  cross join lateral (
    values
    (
      counter.movement is null, 1, '3.1.3', 'unknown', format('the movement of %s', mover.code), null,
      null::integer
    ),
    (
      counter.movement is not null, 1, '3.1.3', trim_scale(counter.movement / 2.0)::text,
      format('%s: the movement of its counter', mover.code), null, counter.movement
    ),
    (
      coalesce((mover.attributes ->> 'veteran')::boolean, false), 2, '4.1.2', '+1',
      format('%s: a veteran', mover.code), null, 2
    ),
    (
      coalesce((mover.attributes ->> 'suppressed')::boolean, false), 3, '4.2.2', '-1',
      format('%s: suppressed', mover.code), null, -2
    ),
    (
      coalesce(counter.burden, 0) <> 0, 4, '5.1', to_char(counter.burden, 'FMSG9'),
      format('%s carries %s', mover.code, counter.weapon ->> 'name'), null, 2 * counter.burden
    ),
    (
      led.command > 0, 5, '3.3.1.2', to_char(led.command, 'FMSG9'),
      format('%s: command of %s in its hex', mover.code, led.codes), null, 2 * led.command
    ),
    (
      mover.broken_leader is not null, 6, 'O27.3.4', 'command',
      format('what %s, a broken leader, still commands', mover.broken_leader), 'ccp-29', null
    )
  ) as fact (holds, n, rule, effect, note, point, halves)
  where fact.holds
    and party.points is null
  union all
  select
    0,
    1,
    'O29',
    party.label,
    trim_scale((party.options ->> 'points')::numeric)::text,
    'the points that the question gives it',
    null,
    party.points,
    null
  where party.points is not null
$$;

comment on function ccp._allowance_steps(ccp.party) is
'What movement each mover has where it begins, and every rule that changed it.';

create or replace function ccp._route(party ccp.party, path text[])
returns table (i integer, fq integer, fr integer, start text, tq integer, tr integer, label text)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  lost text;
begin
  select min(step.label)
  into lost
  from unnest(_route.path) as step (label)
  left join public.hex on hex.map_id = (party.state).map_id and hex.label = step.label
  where hex.q is null;
  if lost is not null then
    raise exception 'there is no hex % on this map', lost using errcode = 'no_data_found';
  end if;
  return query
  select
    row_number() over (order by step.n)::integer,
    lag(step.q, 1, party.q) over (order by step.n),
    lag(step.r, 1, party.r) over (order by step.n),
    lag(step.label, 1, party.label) over (order by step.n),
    step.q,
    step.r,
    step.label
  from (
    select
      step.n,
      hex.q,
      hex.r,
      hex.label
    from unnest(_route.path) with ordinality as step (label, n)
    inner join public.hex on hex.map_id = (party.state).map_id and hex.label = step.label
    -- its own hex may come first
    where step.n > 1 or hex.label <> party.label
  ) as step;
end
$$;

comment on function ccp._route(ccp.party, text[]) is
'A way as steps, each from a hex to the next; the unit''s own hex may be left out at its beginning.';

create or replace function ccp._ending_steps(party ccp.party, q integer, r integer, label text)
returns setof ccp.order_step
language sql stable rows 2
as $$
  select
    1000,
    fact.m,
    fact.rule,
    _ending_steps.label,
    fact.effect,
    fact.note,
    null,
    null::integer,
    null
  from (
    select coalesce(sum(ccp._figures(stat.kind)), 0) as figures
    from ccp._stats(party.state) as stat
    where (stat.q = _ending_steps.q and stat.r = _ending_steps.r)
      or stat.id = any(party.ids)
  ) as crowd
  cross join lateral (
    values
    (
      crowd.figures > 7, 3, '15.2.2', 'overstacked',
      format('%s soldier figures, %s too many: the Cover of the hex is that much less', crowd.figures, crowd.figures - 7)
    ),
    (
      party.side = 'japan' and exists (
        select
        from public.marker
        where marker.position_id = (party.state).position_id
          and marker.q = _ending_steps.q
          and marker.r = _ending_steps.r
          and marker.kind = 'cave'
      ), 4, 'F102.1.1', 'may enter cave',
      'as the order ends it may go inside, at no cost and under no fire'
    )
  ) as fact (holds, m, rule, effect, note)
  where fact.holds
$$;

comment on function ccp._ending_steps(ccp.party, integer, integer, text) is
'What the hex does in which those who moved or advanced end: Overstacking, and a cave to go into (15.2.2, F102.1.1).';
