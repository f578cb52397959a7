-- needs: ccp/advance.sql, ccp/costs.sql, ccp/op_fire.sql
-- Moving in ccp, told rule by rule: 14.2, A41, A43, O29, F102.1, F104, F107; Advances are in ccp/advance.sql.

drop type if exists ccp.leg cascade;
create type ccp.leg as (
  i integer,
  fq integer,
  fr integer,
  start text,
  tq integer,
  tr integer,
  label text,
  leaves boolean,
  way text,
  terrain text,
  rule text,
  halves integer,
  dark integer,
  uphill integer,
  enemy text,
  off_bridge boolean,
  out_of_mines boolean,
  into_mines boolean,
  point text,
  unseen boolean,
  watcher text,
  points text array,
  far boolean,
  word text,
  has integer,
  doubtful text,
  price integer,
  wired boolean,
  mined boolean,
  exit_effect text,
  exit_note text,
  ends text,
  ends_note text,
  total integer,
  spent integer,
  ended text,
  ended_note text,
  dear boolean,
  fails boolean,
  open boolean,
  unsure boolean
);

comment on type ccp.leg is
'A step of a Move: from where to where, what it costs and meets, what was spent before it, whether it fails.';
comment on column ccp.leg.leaves is 'Whether it leaves the map, by an Exit Point';
comment on column ccp.leg.off_bridge is 'Whether a bridge is entered from its side';
comment on column ccp.leg.unseen is 'Along a road: whether no enemy sees it; watcher: who does; points: what this touches';
comment on column ccp.leg.far is 'Whether the hexes are not adjacent';
comment on column ccp.leg.has is 'What the party has in all in the hex that it leaves, in halves';
comment on column ccp.leg.doubtful is 'The leader whose command number is not told; unsure: it could make the step affordable';
comment on column ccp.leg.wired is 'Whether hidden wire is revealed; mined: mines';
comment on column ccp.leg.ends is 'The rule that ends the move in this hex; ended: that ended it in the one before';
comment on column ccp.leg.open is 'Whether it cannot be told';

drop type if exists ccp.rest cascade;
create type ccp.rest as (
  i integer,
  q integer,
  r integer,
  label text,
  left_map boolean,
  spent integer,
  doubtful text,
  remaining integer
);

comment on type ccp.rest is
'Where a party stands when its move is over: after which step, what is spent and what is left, and whose command number
would tell it.';

create or replace function ccp._stages(party ccp.party, path text[])
returns table (i integer, fq integer, fr integer, start text, tq integer, tr integer, label text, leaves boolean)
language sql stable rows 10
as $$
  with route as materialized (
    select * from ccp._route(party, path)
  )
  select
    route.*,
    false
  from route
  union all
  select
    coalesce(goal.i, 0) + 1,
    coalesce(goal.tq, party.q),
    coalesce(goal.tr, party.r),
    coalesce(goal.label, party.label),
    null,
    null,
    coalesce(goal.label, party.label),
    true
  from (values (true)) as once (asked)
  left join lateral (select * from route order by route.i desc limit 1) as goal on true
  where (party.options ->> 'exit')::boolean
$$;

comment on function ccp._stages(ccp.party, text[]) is
'A way as steps; leaving the map is a step without a hex (14.2.1).';

create or replace function ccp._watched_roads(party ccp.party, qs integer[], rs integer[])
returns table (q integer, r integer, watcher text, points text[])
language sql stable rows 2
as $$
  select
    watched.q,
    watched.r,
    min(watched.watcher),
    array_agg(distinct touched.point) filter (where touched.point is not null)
  from ccp._watched(party, _watched_roads.qs, _watched_roads.rs) as watched
  left join lateral unnest(watched.points) as touched (point) on true
  group by watched.q, watched.r
$$;

comment on function ccp._watched_roads(ccp.party, integer[], integer[]) is
'Of road hexes, who sees each if anybody does, and the points that the lines to it touch (T94).';

create or replace function ccp._move_end(
  party ccp.party, leaves boolean, entry ccp.entry, wired boolean, from_wired boolean
)
returns table (rule text, note text)
language sql immutable parallel safe rows 1
as $$
  select
    case
      when leaves then null
      when entry.word = 'all' then 'T99'
      when entry.into_wire then 'F107.2'
      when wired and party.wire = 'a' then 'A43.7'
      when entry.out_of_wire or (party.wire = 'b' and from_wired) then 'F107.2'
    end,
    case
      when entry.word = 'all' then 'all points are lost in the water'
      when entry.into_wire then 'all points are lost in the wire'
      when wired and party.wire = 'a' then 'wire is placed here: the move is over'
      else 'out of wire it stops in the first hex'
    end
$$;

comment on function ccp._move_end(ccp.party, boolean, ccp.entry, boolean, boolean) is
'The rule that ends a move in the hex entered, null where none does: water, and wire that was there or is revealed
(T99, F107.2, A43.7, ccp-5).';

create or replace function ccp._priced_legs(party ccp.party, posts ccp.post[], path text[])
returns setof ccp.leg
language sql stable rows 10
as $$
  with hidden as materialized (
    select * from ccp._hidden(party) as hidden where hidden.placed
  ),
  stage as materialized (
    select * from ccp._stages(party, path)
  ),
  entry as materialized (
    select entry.*
    from (
      select
        array_agg(stage.fq order by stage.i) as fqs,
        array_agg(stage.fr order by stage.i) as frs,
        array_agg(stage.tq order by stage.i) as tqs,
        array_agg(stage.tr order by stage.i) as trs
      from stage
      where not stage.leaves
    ) as way
    cross join lateral ccp._entries(party, way.fqs, way.frs, way.tqs, way.trs) as entry
  ),
  watched as materialized (
    select watched.*
    from (
      select
        array_agg(stage.tq) as qs,
        array_agg(stage.tr) as rs
      from stage
      inner join entry on entry.i = stage.i
      where entry.unseen < entry.halves
    ) as road
    cross join lateral ccp._watched_roads(party, road.qs, road.rs) as watched
  )
  select
    stage.*,
    entry.way,
    entry.terrain,
    entry.rule,
    entry.halves,
    entry.dark,
    entry.uphill,
    entry.enemy,
    entry.bridge and entry.way = 'terrain',
    entry.out_of_mines
    or was_mines.q is not null
    or (
      stage.leaves
      and exists (
        select
        from public.marker
        where marker.position_id = (party.state).position_id
          and marker.kind = 'mines'
          and marker.q = stage.fq
          and marker.r = stage.fr
      )
    ),
    entry.into_mines,
    entry.point,
    road.is_so and watched.watcher is null,
    case when road.is_so then watched.watcher end,
    watched.points,
    not stage.leaves and lattice.distance(stage.fq, stage.fr, stage.tq, stage.tr) <> 1,
    entry.word,
    ccp._allowance(party, coalesce(post.led, 0)),
    case when party.squads is not null and party.points is null then coalesce(post.untold, party.untold_command) end,
    case
      when entry.word = 'all' then null
      when stage.leaves then 2
      when road.is_so and watched.watcher is null then entry.unseen
      else entry.halves
    end
    + coalesce(entry.dark + entry.uphill, 0),
    wire.q is not null,
    mines.q is not null,
    out.effect,
    out.note,
    ending.rule,
    ending.note,
    null::integer,
    null::integer,
    null::text,
    null::text,
    null::boolean,
    null::boolean,
    null::boolean,
    null::boolean
  from stage
  left join entry on entry.i = stage.i and not stage.leaves
  cross join lateral (select entry.unseen < entry.halves as is_so) as road
  left join watched on watched.q = stage.tq and watched.r = stage.tr
  left join unnest(posts) as post on post.q = stage.fq and post.r = stage.fr and party.squads is not null
  left join hidden as wire on wire.kind = 'wire' and wire.q = stage.tq and wire.r = stage.tr
  left join hidden as mines on mines.kind = 'mines' and mines.q = stage.tq and mines.r = stage.tr
  left join hidden as was_mines
    on was_mines.kind = 'mines' and was_mines.q = stage.fq and was_mines.r = stage.fr and stage.i > 1
  left join hidden as was_wire
    on was_wire.kind = 'wire' and was_wire.q = stage.fq and was_wire.r = stage.fr and stage.i > 1
  left join lateral ccp._exit(party, stage.fq, stage.fr) as out on stage.leaves
  cross join lateral ccp._move_end(
    party, stage.leaves, entry::ccp.entry, wire.q is not null, was_wire.q is not null
  ) as ending
$$;

comment on function ccp._priced_legs(ccp.party, ccp.post[], text[]) is
'The steps of a Move, each with what it costs and meets, before what is spent is added up.';

create or replace function ccp._legs(party ccp.party, posts ccp.post[], path text[])
returns setof ccp.leg
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
declare
  leg ccp.leg;
  spent integer := 0;
  ended text;
  ended_note text;
begin
  for leg in
    select * from ccp._priced_legs(party, posts, path) as priced order by priced.i
  loop
    leg.total := case when leg.word = 'all' then leg.has else leg.price end;
    leg.spent := spent;
    leg.ended := ended;
    leg.ended_note := ended_note;
    leg.dear := leg.spent + leg.price > leg.has;
    -- a leader who comes along is no faster than his own counter
    leg.unsure := leg.doubtful is not null and coalesce(leg.spent + leg.price <= party.leaders, true);
    leg.fails := coalesce(leg.far, false)
      or leg.ended is not null
      or coalesce(leg.word = 'prohibited', false)
      or leg.enemy is not null
      or coalesce(leg.word = 'all' and (leg.i > 1 or leg.has = 0), false)
      or (leg.i = 1 and party.apart is not null)
      or coalesce(leg.exit_effect = 'forbids', false)
      or (not leg.unsure and coalesce(leg.dear, false));
    leg.open := leg.has is null
      or leg.total is null
      or coalesce(leg.exit_effect = 'unknown', false)
      or (leg.unsure and coalesce(leg.dear, false));
    return next leg;
    spent := spent + coalesce(leg.total, 0);
    ended := leg.ends;
    ended_note := leg.ends_note;
  end loop;
end
$$;

comment on function ccp._legs(ccp.party, ccp.post[], text[]) is
'The steps of a Move, each with what it costs and meets, what has been spent before it, and whether it fails.';

create or replace function ccp._rest(party ccp.party, posts ccp.post[], done ccp.leg)
returns ccp.rest
language plpgsql stable
as $$
declare
  rest ccp.rest;
  post ccp.post;
  has integer;
  is_over boolean := coalesce(done.leaves, false) or done.ends is not null;
begin
  rest.i := coalesce(done.i, 0);
  rest.q := coalesce(done.tq, party.q);
  rest.r := coalesce(done.tr, party.r);
  rest.label := coalesce(done.label, party.label);
  rest.left_map := coalesce(done.leaves, false);
  rest.spent := coalesce(done.spent + done.total, 0);
  if party.squads is not null then
    select * into post from unnest(posts) as stays where stays.q = rest.q and stays.r = rest.r;
  end if;
  if party.squads is not null and party.points is null and not is_over then
    rest.doubtful := coalesce(post.untold, party.untold_command);
  end if;
  has := ccp._allowance(party, coalesce(post.led, 0));
  rest.remaining := case
    when is_over then 0
    when has is not null and rest.doubtful is null then greatest(0, has - rest.spent)
  end;
  return rest;
end
$$;

comment on function ccp._rest(ccp.party, ccp.post[], ccp.leg) is
'Where a party stands after the last step that it could take, and what it has left.';

create or replace function ccp._start_steps(party ccp.party, moves boolean)
returns setof ccp.order_step
language sql stable rows 1
as $$
  select
    0,
    99,
    'F102.1.1',
    party.label,
    'leaves cave',
    'it comes out of the cave as the order begins, at no cost and under no fire',
    null,
    null::integer,
    null
  where party.in_cave
  union all
  select
    1,
    11,
    '19.1',
    party.label,
    'ends melee',
    format('nobody is left there to fight %s, who may fire', melee.enemies),
    null,
    null,
    null
  from (
    -- no row where the melee goes on or was none
    select string_agg(unit.code, ', ' order by unit.code) filter (where unit.side <> party.side) as enemies
    from public.unit
    where unit.position_id = (party.state).position_id
      and unit.q = party.q
      and unit.r = party.r
      and unit.kind <> 'aircraft'
      and not unit.id = any(party.ids)
    having bool_and(unit.side <> party.side)
  ) as melee
  where moves
$$;

comment on function ccp._start_steps(ccp.party, boolean) is
'What happens where a Move begins: a cave is left, and a melee when the last of a side leave it (F102.1.1, 19.1).';

create or replace function ccp._cost_steps(leg ccp.leg)
returns setof ccp.order_step
language sql stable rows 2
as $$
  select
    leg.i,
    fact.m,
    fact.rule,
    leg.label,
    fact.effect,
    fact.note,
    fact.point,
    fact.halves,
    null
  from (
    values
    (
      leg.off_bridge and not leg.far and leg.terrain <> 'bridge', 2, 'T84', 'off the bridge',
      format('not along it: %s counts', replace(leg.terrain, '_', ' ')), null, null
    ),
    (
      leg.word is null and not leg.far and not leg.leaves and leg.halves is not null, 2, leg.rule, 'cost',
      case
        when leg.unseen then format('along the %s, where no enemy sees it', leg.way)
        when leg.watcher is not null then format('along the %s, seen by %s', leg.way, leg.watcher)
        when leg.way = 'trench' then 'between trench and trench, bunker or pillbox'
        when leg.way = 'bridge' then 'over the bridge'
        when leg.way = 'terrain' then replace(leg.terrain, '_', ' ')
        else format('along the %s', leg.way)
      end,
      leg.point,
      leg.price - leg.dark - leg.uphill
    ),
    (
      leg.word is null and not leg.far and not leg.leaves and leg.halves is null, 2, leg.rule,
      'unknown', format('the other terrain in the bridge hex %s', leg.label), null, null
    ),
    (
      leg.dark <> 0 and leg.word is null and not leg.far, 3, '18.2', 'cost', 'at night', leg.point, leg.dark
    ),
    (
      leg.uphill <> 0 and leg.word is null and not leg.far, 4, 'T89.1', 'cost',
      format('%s up', case when leg.uphill = 2 then 'a level' else leg.uphill / 2 || ' levels' end), null,
      leg.uphill
    ),
    (
      leg.word = 'all' and leg.i = 1 and not leg.far and leg.has is not null, 2, 'T99', 'cost',
      'water barrier: all its points', null, leg.has
    ),
    (leg.leaves, 2, '14.2.2', 'cost', 'leaving the map', null, 2),
    (leg.leaves and leg.exit_effect = 'allows', 5, '14.2.1', 'allows', leg.exit_note, null, null)
  ) as fact (holds, m, rule, effect, note, point, halves)
  where fact.holds
$$;

comment on function ccp._cost_steps(ccp.leg) is
'What a step of a Move costs, part by part (O29, 14.2.2, 18.2, T84, T89.1, T99).';

create or replace function ccp._road_steps(legs ccp.leg[])
returns setof ccp.order_step
language sql stable rows 1
as $$
  select
    leg.i,
    2,
    'T94',
    leg.label,
    case when leg.watcher is null then 'unseen' else 'seen' end,
    'a line of sight to this hex could be read otherwise',
    touched.point,
    null::integer,
    null
  from unnest(legs) as leg
  cross join lateral unnest(leg.points) as touched (point)
$$;

comment on function ccp._road_steps(ccp.leg[]) is
'Sight that a road''s cost hangs on, where it could be read otherwise (T94).';

create or replace function ccp._bar_steps(party ccp.party, leg ccp.leg)
returns setof ccp.order_step
language sql stable rows 1
as $$
  select
    leg.i,
    fact.m,
    fact.rule,
    coalesce(fact.at, leg.label),
    fact.effect,
    fact.note,
    fact.point,
    null::integer,
    null
  from (
    values
    (
      leg.i = 1 and party.apart is not null, 6, 'O29.2', party.label, 'forbids',
      format('%s does not begin in this hex and cannot move along', party.apart), null
    ),
    (leg.far, 6, 'O29.1', null, 'forbids', format('not adjacent to %s', leg.start), null),
    (
      leg.ended is not null, 6, leg.ended, leg.start, 'forbids',
      format('the move ended here: %s', leg.ended_note), case leg.ended when 'A43.7' then 'ccp-5' end
    ),
    (leg.word = 'prohibited', 6, 'O29.4', null, 'forbids', 'a blaze is impassable', null),
    (leg.enemy is not null, 6, 'O29.4', null, 'forbids', format('enemy-occupied: %s', leg.enemy), null),
    (
      leg.word = 'all' and leg.i > 1, 6, 'T99', null, 'forbids',
      'a water barrier is entered only as the first and last hex of a move', null
    ),
    (
      leg.word = 'all' and leg.i = 1 and leg.has = 0, 6, 'O29.1', null, 'forbids', 'it has no points', null
    ),
    (
      leg.exit_effect in ('forbids', 'unknown'), 6, '14.2.1', null, leg.exit_effect, leg.exit_note, null
    ),
    (
      leg.dear and leg.word is null and not leg.unsure, 7, 'O29.1', null, 'forbids',
      format(
        'it costs %s and %s is left',
        trim_scale(leg.price / 2.0), trim_scale(greatest(0, leg.has - leg.spent) / 2.0)
      ),
      null
    ),
    (
      leg.dear and leg.word is null and leg.unsure, 7, '3.3.1.2', null, 'unknown',
      format('the command number of %s', leg.doubtful), null
    )
  ) as fact (holds, m, rule, at, effect, note, point)
  where fact.holds
$$;

comment on function ccp._bar_steps(ccp.party, ccp.leg) is
'What forbids a step of a Move, or leaves it open (O29.1, O29.2, O29.4, 14.2.1, T99, F107.2, A43.7).';

create or replace function ccp._event_steps(party ccp.party, leg ccp.leg)
returns setof ccp.order_step
language sql stable rows 1
as $$
  select
    leg.i,
    fact.m,
    fact.rule,
    coalesce(fact.at, leg.label),
    fact.effect,
    fact.note,
    fact.point,
    null::integer,
    null
  from (
    values
    (
      leg.out_of_mines, 1, 'F104.1', leg.start, 'roll',
      'mines attack those who leave; hit or not, they are placed in the next hex', null
    ),
    (
      leg.ends is not null, 8, leg.ends, null, 'stops', leg.ends_note, case when leg.wired then 'ccp-5' end
    ),
    (
      leg.wired and party.wire = 'b', 8, 'A43.7', null, 'places wire',
      'wire is placed here; it may still leave with what it has', 'ccp-5'
    ),
    (leg.way = 'trench', 11, 'F106.2', null, 'no opportunity fire', 'it came through the trench', null),
    (
      leg.leaves and party.op_fire = 'a', 11, 'A41.1', null, 'no opportunity fire',
      'it enters no hex as it leaves the map', 'ccp-19'
    )
  ) as fact (holds, m, rule, at, effect, note, point)
  where fact.holds
  union all
  -- F104.1: one roll for all who enter together, however many a Hidden action finds (ccp-11)
  select
    leg.i,
    -- ccp-30: before any Op Fire in the hex
    10,
    case when leg.mined then 'A43.2' else 'F104.1' end,
    leg.label,
    'roll',
    'mines attack those who enter',
    case when leg.mined and cardinality(party.ids) > 1 then 'ccp-11' end,
    null,
    null
  from generate_series(1, case when leg.mined and party.mines = 'b' then cardinality(party.ids) else 1 end)
  where leg.into_mines or leg.mined
$$;

comment on function ccp._event_steps(ccp.party, ccp.leg) is
'What a step does that is taken: mines, wire, a trench, leaving the map (F104.1, F106.2, F107.2, A41.1, A43).';

create or replace function ccp._post_steps(party ccp.party, posts ccp.post[], leg ccp.leg)
returns setof ccp.order_step
language sql stable rows 1
as $$
  select
    leg.i,
    9,
    fact.rule,
    leg.label,
    fact.effect,
    fact.note,
    fact.point,
    null::integer,
    null
  from (values (true)) as once (asked)
  left join unnest(posts) as here on here.q = leg.tq and here.r = leg.tr
  left join unnest(posts) as there on there.q = leg.fq and there.r = leg.fr
  cross join lateral (
    values
    (
      coalesce(here.led, 0) <> coalesce(there.led, 0) and party.points is null, '3.3.1.2',
      to_char((coalesce(here.led, 0) - coalesce(there.led, 0)) / 2, 'FMSG9'),
      'command of the leaders who stay in the hex, against the hex before', null
    ),
    (
      here.broken is not null, 'O27.3.4', 'command',
      format('what %s, a broken leader, still commands', here.broken), 'ccp-29'
    )
  ) as fact (holds, rule, effect, note, point)
  where fact.holds
    and not leg.leaves
    and party.squads is not null
$$;

comment on function ccp._post_steps(ccp.party, ccp.post[], ccp.leg) is
'What leaders who stay in the hex entered change, for squads and teams (3.3.1.2, O27.3.4, ccp-29).';

create or replace function ccp._move_fire_steps(party ccp.party, legs ccp.leg[], rest text)
returns setof ccp.order_step
language sql stable rows 4
as $$
  select step.i, step.m, step.rule, coalesce(step.at, rest), step.effect, step.note, step.point, step.halves, step.by
  from (
    select
      array_agg(leg.i order by leg.i) as steps,
      array_agg(coalesce(leg.tq, leg.fq) order by leg.i) as qs,
      array_agg(coalesce(leg.tr, leg.fr) order by leg.i) as rs,
      array_agg(leg.leaves order by leg.i) as leave
    from unnest(legs) as leg
    -- F106.2, ccp-19
    where leg.way is distinct from 'trench'
      and (party.op_fire = 'b' or not leg.leaves)
  ) as entered
  cross join lateral ccp._op_fire_steps(party, entered.steps, entered.qs, entered.rs, entered.leave) as step
$$;

comment on function ccp._move_fire_steps(ccp.party, ccp.leg[], text) is
'Op Fire at the steps that were taken, but through a trench; what no step has is told where the party rests.';

create or replace function ccp._move_verdict(legs ccp.leg[], stop integer, rest ccp.rest)
returns rulings.move_step
language plpgsql immutable
as $$
declare
  halt ccp.leg := legs[stop];
  verdict rulings.move_step;
begin
  verdict.rule := case when cardinality(legs) = 0 then 'O20.3' else 'O29' end;
  verdict.at := coalesce(halt.label, rest.label);
  verdict.effect := case
    when cardinality(legs) = 0 or halt.fails then 'illegal'
    when halt.open then 'unknown'
    else 'legal'
  end;
  verdict.note := case
    when cardinality(legs) = 0 then 'a move enters at least one hex'
    when halt.fails and stop = 1 then 'it cannot take the first step'
    when halt.fails then format('it gets no farther than %s', rest.label)
    when halt.open then 'what is not told would decide it'
    when rest.left_map then 'it leaves the map'
    else 'the whole way'
  end;
  verdict.halves := rest.spent;
  verdict.remaining := rest.remaining;
  return verdict;
end
$$;

comment on function ccp._move_verdict(ccp.leg[], integer, ccp.rest) is
'How far a Move comes: `stop` is the step that fails or cannot be told, or one past the last (O20.3, O29).';

create or replace function ccp._move_steps(party ccp.party, path text[])
returns setof rulings.move_step
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  posts ccp.post[] := array(select post from ccp._posts(party) as post);
  legs ccp.leg[] := array(select leg from ccp._legs(party, posts, path) as leg order by leg.i);
  stop integer := coalesce(
    (select min(leg.i) from unnest(legs) as leg where leg.fails or leg.open), cardinality(legs) + 1
  );
  tried ccp.leg[] := legs[:stop];
  taken ccp.leg[] := legs[:stop - 1];
  rest ccp.rest := ccp._rest(party, posts, legs[stop - 1]);
  whole boolean := stop > cardinality(legs);
begin
  return query
  select step.rule, null::text, step.at, step.effect, step.note, step.point, step.halves, null::integer, step.by
  from (
    select * from ccp._allowance_steps(party)
    union all
    select * from ccp._start_steps(party, stop > 1)
    union all
    select step.* from unnest(tried) as leg cross join lateral ccp._cost_steps(leg) as step
    union all
    select * from ccp._road_steps(tried)
    union all
    select step.* from unnest(tried) as leg cross join lateral ccp._bar_steps(party, leg) as step
    union all
    select step.* from unnest(taken) as leg cross join lateral ccp._event_steps(party, leg) as step
    union all
    select step.* from unnest(taken) as leg cross join lateral ccp._post_steps(party, posts, leg) as step
    union all
    select step.*
    from (
      select
        array_agg(leg.tq) as qs,
        array_agg(leg.tr) as rs
      from unnest(taken) as leg
    ) as entered
    cross join lateral ccp._hidden_steps(party, entered.qs, entered.rs) as step
    union all
    select * from ccp._move_fire_steps(party, taken, rest.label)
    union all
    select 1000, 2, '3.3.1.2', rest.label, 'unknown', format('the command number of %s', rest.doubtful), null, null, null
    where rest.doubtful is not null
      and whole
    union all
    select *
    from ccp._ending_steps(party, rest.q, rest.r, rest.label)
    where rest.i > 0
      and not rest.left_map
      and whole
  ) as step
  order by
    step.i, step.m, step.at, step.by, step.rule, step.effect = 'contested', step.note, step.point;
  return next ccp._move_verdict(legs, stop, rest);
end
$$;

comment on function ccp._move_steps(ccp.party, text[]) is
'A Move order along a way: every rule that speaks, in the order of the way, the verdict last (O29).';

create or replace function ccp.move(
  position_id bigint,
  unit text,
  path text[],
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.move_step
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  party ccp.party;
begin
  select * into state from positions.state(move.position_id, move.conditions, move.policy);
  party := ccp._party(state, move.unit, move.options);
  if move.options ->> 'as' = 'advance' then
    return query select * from ccp._advance(party, move.path);
  else
    return query select * from ccp._move_steps(party, move.path);
  end if;
end
$$;

comment on function ccp.move(bigint, text, text[], jsonb, jsonb, jsonb) is
'A Move or an Advance along a way: a row for every rule that speaks, costs in halves of a point, the verdict last.';
