-- needs: ccp/stats.sql
-- Those who move together in ccp: what movement they have, their way, where they end: 3.3.1.2, 4, 5.1, 15.2.2, O29.2.
--
-- A unit may spend, at every step, its movement as it is in the hex that it leaves, less what it has
-- spent; a leader adds to it where he stands, and all the way where he goes along.

create or replace function ccp._movers(position_id bigint, unit text, options jsonb, policy jsonb)
returns table (
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
  -- movement of its own, in halves, before command; null: the counter does not tell
  halves integer
)
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
  from ccp._stats(_movers.position_id, _movers.policy) as stat
  where stat.code = _movers.unit
    or stat.code in (select jsonb_array_elements_text(_movers.options -> 'with'));
end
$$;

comment on function ccp._movers(bigint, text, jsonb, jsonb) is
'The unit that moves and those that go with it, each with its movement before command (O29, 4, 5.1).';

create or replace function ccp._party(
  position_id bigint, unit text, options jsonb, conditions jsonb, policy jsonb
)
returns table (
  map_id bigint,
  side text,
  q integer,
  r integer,
  label text,
  ids bigint[],
  -- one that does not begin in the same hex
  apart text,
  -- whose movement is not told, and which leader's command
  untold text,
  untold_command text,
  -- least movement of squads and teams, and of those whom nobody leads
  squads integer,
  leaders integer,
  -- command of the leaders who go along, in halves
  carried integer,
  -- points that the question tells, in halves
  told integer,
  night boolean,
  in_cave boolean,
  -- the readings in force
  wire text,
  mines text,
  trench text,
  op_fire text,
  bridge text
)
language plpgsql stable rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  first record;
  other record;
begin
  perform ccp._on_map(_party.position_id, _party.unit);
  select * into first from positions.counter(_party.position_id, _party.unit);
  for other in
    select named.code
    from jsonb_array_elements_text(_party.options -> 'with') as named (code)
  loop
    perform ccp._on_map(_party.position_id, other.code);
    if (select counter.side from positions.counter(_party.position_id, other.code) as counter) <> first.side then
      raise exception '% is no friend of % and cannot move along', other.code, _party.unit
        using errcode = 'no_data_found';
    end if;
  end loop;
  return query
  select
    position.map_id,
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
    coalesce((coalesce(_party.conditions, position.conditions) ->> 'night')::boolean, false),
    bool_or(mover.side = 'japan' and coalesce((mover.attributes ->> 'in_cave')::boolean, false)),
    game.readings ->> 'ccp-5',
    game.readings ->> 'ccp-11',
    game.readings ->> 'ccp-17',
    game.readings ->> 'ccp-19',
    game.readings ->> 'ccp-24'
  from public.position
  cross join lateral positions.state(position.id, null, _party.policy) as game
  cross join ccp._movers(_party.position_id, _party.unit, _party.options, _party.policy) as mover
  where position.id = _party.position_id
  group by position.id, game.readings;
end
$$;

comment on function ccp._party(bigint, text, jsonb, jsonb, jsonb) is
'Those who move together as one (O29.2): where from, what bounds their movement, and how contested points are read.';

create or replace function ccp._allowance(
  told integer, untold text, squads integer, leaders integer, carried integer, led integer
)
returns integer
language sql immutable parallel safe
return case
  when told is not null then told
  when untold is not null then null
  else greatest(0, least(squads + carried + led, leaders))
end;

comment on function ccp._allowance(integer, text, integer, integer, integer, integer) is
'Halves that a party has in all where leaders who stay there add `led`: the slowest decides (O29.2, 3.3.1.2).';

create or replace function ccp._posts(position_id bigint, side text, movers bigint[], policy jsonb)
returns table (q integer, r integer, led integer, untold text, broken text)
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
  from ccp._stats(_posts.position_id, _posts.policy) as stat
  where stat.side = _posts.side
    and stat.kind in ('leader', 'hero')
    and not stat.id = any(_posts.movers)
  group by stat.q, stat.r;
end
$$;

comment on function ccp._posts(bigint, text, bigint[], jsonb) is
'Where leaders stay who do not go along, and what they add there to squads and teams, in halves (3.3.1.2).';

create or replace function ccp._allowance_told(position_id bigint, unit text, options jsonb, policy jsonb)
returns table (n integer, rule text, at text, effect text, note text, point text, halves integer)
language sql stable rows 6
as $$
  select
    row_number() over (order by mover.code <> _allowance_told.unit, mover.code, fact.n)::integer,
    fact.rule,
    mover.label,
    fact.effect,
    fact.note,
    fact.point,
    fact.halves
  from ccp._movers(
    _allowance_told.position_id, _allowance_told.unit, _allowance_told.options, _allowance_told.policy
  ) as mover
  cross join lateral (
    select
      mover.attributes -> 'weapon' as weapon,
      (mover.attributes -> 'weapon' ->> 'movement')::integer as burden,
      (2 * (mover.attributes ->> 'movement')::numeric)::integer as movement
  ) as counter
  left join lateral (
    select string_agg(leader.code, ', ' order by leader.code) as codes,
      sum(leader.command)::integer as command
    from ccp._stats(_allowance_told.position_id, _allowance_told.policy) as leader
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
    and _allowance_told.options ->> 'points' is null
  union all
  select
    1,
    'O29',
    counter.label,
    trim_scale((_allowance_told.options ->> 'points')::numeric)::text,
    'the points that the question gives it',
    null,
    (2 * (_allowance_told.options ->> 'points')::numeric)::integer
  from positions.counter(_allowance_told.position_id, _allowance_told.unit) as counter
  where _allowance_told.options ->> 'points' is not null
$$;

comment on function ccp._allowance_told(bigint, text, jsonb, jsonb) is
'What movement each mover has where it begins, and every rule that changed it.';

create or replace function ccp._route(position_id bigint, unit text, path text[])
returns table (i integer, fq integer, fr integer, start text, tq integer, tr integer, label text)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  origin record;
  lost text;
begin
  select * into origin from positions.counter(_route.position_id, _route.unit);
  select min(step.label)
  into lost
  from unnest(_route.path) as step (label)
  inner join public.position on position.id = _route.position_id
  left join public.hex on hex.map_id = position.map_id and hex.label = step.label
  where hex.q is null;
  if lost is not null then
    raise exception 'there is no hex % on this map', lost using errcode = 'no_data_found';
  end if;
  return query
  select
    row_number() over (order by step.n)::integer,
    lag(step.q, 1, origin.q) over (order by step.n),
    lag(step.r, 1, origin.r) over (order by step.n),
    lag(step.label, 1, origin.label) over (order by step.n),
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
    inner join public.position on position.id = _route.position_id
    inner join public.hex on hex.map_id = position.map_id and hex.label = step.label
    -- its own hex may come first
    where step.n > 1 or hex.label <> origin.label
  ) as step;
end
$$;

comment on function ccp._route(bigint, text, text[]) is
'A way as steps, each from a hex to the next; the unit''s own hex may be left out at its beginning.';

create or replace function ccp._end_told(
  position_id bigint, side text, movers bigint[], q integer, r integer, policy jsonb
)
returns table (n integer, rule text, effect text, note text)
language sql stable rows 2
as $$
  select
    fact.n,
    fact.rule,
    fact.effect,
    fact.note
  from (
    select coalesce(sum(ccp._figures(stat.kind)), 0) as figures
    from ccp._stats(_end_told.position_id, _end_told.policy) as stat
    where (stat.q = _end_told.q and stat.r = _end_told.r)
      or stat.id = any(_end_told.movers)
  ) as crowd
  cross join lateral (
    values
    (
      crowd.figures > 7, 1, '15.2.2', 'overstacked',
      format('%s soldier figures, %s too many: the Cover of the hex is that much less', crowd.figures, crowd.figures - 7)
    ),
    (
      _end_told.side = 'japan' and exists (
        select
        from public.marker
        where marker.position_id = _end_told.position_id
          and marker.q = _end_told.q
          and marker.r = _end_told.r
          and marker.kind = 'cave'
      ), 2, 'F102.1.1', 'may enter cave',
      'as the order ends it may go inside, at no cost and under no fire'
    )
  ) as fact (holds, n, rule, effect, note)
  where fact.holds
$$;

comment on function ccp._end_told(bigint, text, bigint[], integer, integer, jsonb) is
'What the hex does in which those who moved or advanced end: Overstacking, and a cave to go into (15.2.2, F102.1.1).';
