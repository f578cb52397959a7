-- needs: ccp/advance.sql, ccp/costs.sql, ccp/op_fire.sql
-- Moving in ccp, told rule by rule: 14.2, A41, A43, O29, F102.1, F104, F107; Advances are in ccp/advance.sql.

create or replace function ccp._steps(
  position_id bigint, unit text, path text[], options jsonb, conditions jsonb, policy jsonb
)
returns table (
  i integer,
  fq integer,
  fr integer,
  start text,
  tq integer,
  tr integer,
  label text,
  -- the map, by an Exit Point
  leaves boolean,
  way text,
  terrain text,
  rule text,
  halves integer,
  dark integer,
  uphill integer,
  enemy text,
  -- whether a bridge is entered from its side
  off_bridge boolean,
  out_of_mines boolean,
  into_mines boolean,
  point text,
  -- along a road: whether no enemy sees it, or who does, and the points that this touches
  unseen boolean,
  watcher text,
  points text[],
  -- not adjacent
  far boolean,
  word text,
  -- what the party has in all in the hex that it leaves
  has integer,
  -- the leader whose command number is not told
  doubtful text,
  price integer,
  -- hidden wire and mines that are revealed
  wired boolean,
  mined boolean,
  exit_effect text,
  exit_note text,
  -- the rule that ends the move in this hex, or ended it in the one before
  ends text,
  ends_note text,
  total integer,
  spent integer,
  ended text,
  ended_note text,
  dear boolean,
  fails boolean,
  -- whether it cannot be told
  open boolean,
  -- whether that leader's command could make it affordable
  unsure boolean
)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with party as materialized (
    select * from ccp._party(_steps.position_id, _steps.unit, _steps.options, _steps.conditions, _steps.policy)
  ),
  post as materialized (
    select post.*
    from party
    cross join lateral ccp._posts(_steps.position_id, party.side, party.ids, _steps.policy) as post
    where party.squads is not null
  ),
  hidden as materialized (
    select * from ccp._hidden(_steps.position_id, _steps.options)
  ),
  route as materialized (
    select * from ccp._route(_steps.position_id, _steps.unit, _steps.path)
  ),
  -- leaving the map is a step without a hex (14.2.1)
  stage as materialized (
    select
      route.*,
      false as leaves
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
    from party
    left join lateral (select * from route order by route.i desc limit 1) as goal on true
    where (_steps.options ->> 'exit')::boolean
  ),
  entry as materialized (
    select entry.*
    from party
    cross join lateral (
      select
        array_agg(route.fq order by route.i) as fqs,
        array_agg(route.fr order by route.i) as frs,
        array_agg(route.tq order by route.i) as tqs,
        array_agg(route.tr order by route.i) as trs
      from route
    ) as way
    cross join lateral ccp._entries(
      _steps.position_id, party.map_id, party.side, party.night, party.trench, party.bridge,
      way.fqs, way.frs, way.tqs, way.trs
    ) as entry
  ),
  watched as materialized (
    select
      watched.q,
      watched.r,
      min(watched.watcher) as watcher,
      array_agg(distinct touched.point) filter (where touched.point is not null) as points
    from party
    cross join lateral (
      select
        array_agg(route.tq) as qs,
        array_agg(route.tr) as rs
      from route
      inner join entry on entry.i = route.i
      where entry.unseen < entry.halves
    ) as road
    cross join lateral ccp._watched(
      _steps.position_id, party.side, road.qs, road.rs, _steps.conditions, _steps.policy
    ) as watched
    left join lateral unnest(watched.points) as touched (point) on true
    group by watched.q, watched.r
  ),
  priced as materialized (
    select
      stage.*,
      entry.way,
      entry.terrain,
      entry.rule,
      entry.halves,
      entry.dark,
      entry.uphill,
      entry.enemy,
      entry.bridge and entry.way = 'terrain' as off_bridge,
      entry.out_of_mines
      or was_mines.q is not null
      or (
        stage.leaves
        and exists (
          select
          from public.marker
          where marker.position_id = _steps.position_id
            and marker.kind = 'mines'
            and marker.q = stage.fq
            and marker.r = stage.fr
        )
      ) as out_of_mines,
      entry.into_mines,
      entry.point,
      entry.unseen < entry.halves and watched.watcher is null as unseen,
      case when entry.unseen < entry.halves then watched.watcher end as watcher,
      watched.points,
      not stage.leaves and lattice.distance(stage.fq, stage.fr, stage.tq, stage.tr) <> 1 as far,
      entry.word,
      ccp._allowance(
        party.told, party.untold, party.squads, party.leaders, party.carried, coalesce(post.led, 0)
      ) as has,
      case when party.squads is not null and party.told is null then coalesce(post.untold, party.untold_command) end
        as doubtful,
      case
        when entry.word = 'all' then null
        when stage.leaves then 2
        when entry.unseen < entry.halves and watched.watcher is null then entry.unseen
        else entry.halves
      end
      + coalesce(entry.dark + entry.uphill, 0) as price,
      wire.q is not null as wired,
      mines.q is not null as mined,
      out.effect as exit_effect,
      out.note as exit_note,
      case
        when stage.leaves then null
        when entry.word = 'all' then 'T99'
        when entry.into_wire then 'F107.2'
        when wire.q is not null and party.wire = 'a' then 'A43.7'
        when entry.out_of_wire or (party.wire = 'b' and was_wire.q is not null) then 'F107.2'
      end as ends,
      case
        when entry.word = 'all' then 'all points are lost in the water'
        when entry.into_wire then 'all points are lost in the wire'
        when wire.q is not null and party.wire = 'a' then 'wire is placed here: the move is over'
        else 'out of wire it stops in the first hex'
      end as ends_note
    from stage
    cross join party
    left join entry on entry.i = stage.i and not stage.leaves
    left join watched on watched.q = stage.tq and watched.r = stage.tr
    left join post on post.q = stage.fq and post.r = stage.fr
    left join hidden as wire on wire.kind = 'wire' and wire.placed and wire.q = stage.tq and wire.r = stage.tr
    left join hidden as mines on mines.kind = 'mines' and mines.placed and mines.q = stage.tq and mines.r = stage.tr
    left join hidden as was_mines
      on was_mines.kind = 'mines' and was_mines.placed and was_mines.q = stage.fq and was_mines.r = stage.fr
        and stage.i > 1
    left join hidden as was_wire
      on was_wire.kind = 'wire' and was_wire.placed and was_wire.q = stage.fq and was_wire.r = stage.fr and stage.i > 1
    left join lateral ccp._exit(party.map_id, stage.fq, stage.fr, party.side) as out on stage.leaves
  ),
  counted as materialized (
    select
      priced.*,
      case when priced.word = 'all' then priced.has else priced.price end as total,
      coalesce(
        sum(case when priced.word = 'all' then priced.has else priced.price end)
          over (order by priced.i rows between unbounded preceding and 1 preceding),
        0
      )::integer as spent,
      lag(priced.ends) over (order by priced.i) as ended,
      lag(priced.ends_note) over (order by priced.i) as ended_note
    from priced
  )
  select
    counted.*,
    counted.spent + counted.price > counted.has as dear,
    coalesce(counted.far, false)
    or counted.ended is not null
    or coalesce(counted.word = 'prohibited', false)
    or counted.enemy is not null
    or coalesce(counted.word = 'all' and (counted.i > 1 or counted.has = 0), false)
    or (counted.i = 1 and party.apart is not null)
    or coalesce(counted.exit_effect = 'forbids', false)
    or (
      not credit.unsure
      and coalesce(counted.spent + counted.price > counted.has, false)
    ) as fails,
    counted.has is null
    or counted.total is null
    or coalesce(counted.exit_effect = 'unknown', false)
    or (
      credit.unsure
      and coalesce(counted.spent + counted.price > counted.has, false)
    ) as open,
    credit.unsure
  from counted
  cross join party
  cross join lateral (
    -- a leader who comes along is no faster than his own counter
    select
      counted.doubtful is not null and coalesce(counted.spent + counted.price <= party.leaders, true) as unsure
  ) as credit;
end
$$;

comment on function ccp._steps(bigint, text, text[], jsonb, jsonb, jsonb) is
'The steps of a Move, each with what it costs and meets, what has been spent before it, and whether it fails.';

create or replace function ccp._march(
  position_id bigint, unit text, path text[], options jsonb, conditions jsonb, policy jsonb
)
returns setof rulings.move_step
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with party as materialized (
    select * from ccp._party(_march.position_id, _march.unit, _march.options, _march.conditions, _march.policy)
  ),
  post as materialized (
    select post.*
    from party
    cross join lateral ccp._posts(_march.position_id, party.side, party.ids, _march.policy) as post
    where party.squads is not null
  ),
  judged as materialized (
    select *
    from ccp._steps(
      _march.position_id, _march.unit, _march.path, _march.options, _march.conditions, _march.policy
    )
  ),
  finish as materialized (
    select
      min(judged.i) filter (where judged.fails) as fails,
      min(judged.i) filter (where judged.open) as opens,
      coalesce(min(judged.i) filter (where judged.fails or judged.open), max(judged.i) + 1) as stop
    from judged
  ),
  -- where it stands when it is over
  rest as materialized (
    select
      coalesce(done.i, 0) as i,
      coalesce(done.tq, party.q) as q,
      coalesce(done.tr, party.r) as r,
      coalesce(done.label, party.label) as label,
      coalesce(done.leaves, false) as left_map,
      coalesce(done.spent + done.total, 0) as spent,
      final.doubtful,
      case
        when final.is_over then 0
        when allowance.halves is not null and final.doubtful is null
          then greatest(0, allowance.halves - coalesce(done.spent + done.total, 0))
      end as remaining
    from party
    cross join finish
    left join judged as done on done.i = finish.stop - 1
    left join post
      on post.q = coalesce(done.tq, party.q)
        and post.r = coalesce(done.tr, party.r)
    cross join lateral (
      select
        over.is_so as is_over,
        case
          when party.squads is not null and party.told is null and not over.is_so
            then coalesce(post.untold, party.untold_command)
        end as doubtful
      from (select coalesce(done.leaves, false) or done.ends is not null) as over (is_so)
    ) as final
    cross join lateral (
      select
        ccp._allowance(
          party.told, party.untold, party.squads, party.leaders, party.carried, coalesce(post.led, 0)
        ) as halves
    ) as allowance
  ),
  entered as materialized (
    select
      array_agg(judged.i order by judged.i) as steps,
      array_agg(coalesce(judged.tq, judged.fq) order by judged.i) as qs,
      array_agg(coalesce(judged.tr, judged.fr) order by judged.i) as rs,
      array_agg(judged.leaves order by judged.i) as leave
    from party
    cross join finish
    inner join judged on judged.i < finish.stop
    -- F106.2, ccp-19
    where judged.way is distinct from 'trench'
      and (party.op_fire = 'b' or not judged.leaves)
  ),
  told as (
    select
      0 as i,
      allowance.n as m,
      allowance.rule,
      allowance.at,
      allowance.effect,
      allowance.note,
      allowance.point,
      allowance.halves,
      null::text as by
    from ccp._allowance_told(_march.position_id, _march.unit, _march.options, _march.policy) as allowance
    union all
    select
      0,
      99,
      'F102.1.1',
      party.label,
      'leaves cave',
      'it comes out of the cave as the order begins, at no cost and under no fire',
      null,
      null,
      null
    from party
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
    from party
    inner join finish on finish.stop > 1
    cross join lateral ccp._melee_left(_march.position_id, party.side, party.ids, party.q, party.r) as melee
    union all
    select
      judged.i,
      fact.m,
      fact.rule,
      coalesce(fact.at, judged.label),
      fact.effect,
      fact.note,
      fact.point,
      fact.halves,
      null
    from judged
    cross join party
    cross join finish
    left join post on post.q = judged.tq and post.r = judged.tr
    left join post as left_post on left_post.q = judged.fq and left_post.r = judged.fr
    cross join lateral (
      values
      (
        judged.out_of_mines and judged.i < finish.stop, 1, 'F104.1', judged.start, 'roll',
        'mines attack those who leave; hit or not, they are placed in the next hex', null, null
      ),
      -- what it costs
      (
        judged.off_bridge and not judged.far and judged.terrain <> 'bridge', 2, 'T84', null, 'off the bridge',
        format('not along it: %s counts', replace(judged.terrain, '_', ' ')), null, null
      ),
      (
        judged.word is null and not judged.far and not judged.leaves and judged.halves is not null, 2,
        judged.rule, null, 'cost',
        case
          when judged.unseen then format('along the %s, where no enemy sees it', judged.way)
          when judged.watcher is not null then format('along the %s, seen by %s', judged.way, judged.watcher)
          when judged.way = 'trench' then 'between trench and trench, bunker or pillbox'
          when judged.way = 'bridge' then 'over the bridge'
          when judged.way = 'terrain' then replace(judged.terrain, '_', ' ')
          else format('along the %s', judged.way)
        end,
        judged.point,
        judged.price - judged.dark - judged.uphill
      ),
      (
        judged.word is null and not judged.far and not judged.leaves and judged.halves is null, 2, judged.rule,
        null, 'unknown', format('the other terrain in the bridge hex %s', judged.label), null, null
      ),
      (
        judged.dark <> 0 and judged.word is null and not judged.far, 3, '18.2', null, 'cost', 'at night',
        judged.point, judged.dark
      ),
      (
        judged.uphill <> 0 and judged.word is null and not judged.far, 4, 'T89.1', null, 'cost',
        format('%s up', case when judged.uphill = 2 then 'a level' else judged.uphill / 2 || ' levels' end), null,
        judged.uphill
      ),
      (
        judged.word = 'all' and judged.i = 1 and not judged.far and judged.has is not null, 2, 'T99', null, 'cost',
        'water barrier: all its points', null, judged.has
      ),
      (judged.leaves, 2, '14.2.2', null, 'cost', 'leaving the map', null, 2),
      (
        judged.leaves and judged.exit_effect = 'allows', 5, '14.2.1', null, 'allows', judged.exit_note, null, null
      ),
      -- what forbids it
      (
        judged.i = 1 and party.apart is not null, 6, 'O29.2', party.label, 'forbids',
        format('%s does not begin in this hex and cannot move along', party.apart), null, null
      ),
      (judged.far, 6, 'O29.1', null, 'forbids', format('not adjacent to %s', judged.start), null, null),
      (
        judged.ended is not null, 6, judged.ended, judged.start, 'forbids',
        format('the move ended here: %s', judged.ended_note), case judged.ended when 'A43.7' then 'ccp-5' end, null
      ),
      (judged.word = 'prohibited', 6, 'O29.4', null, 'forbids', 'a blaze is impassable', null, null),
      (
        judged.enemy is not null, 6, 'O29.4', null, 'forbids',
        format('enemy-occupied: %s', judged.enemy), null, null
      ),
      (
        judged.word = 'all' and judged.i > 1, 6, 'T99', null, 'forbids',
        'a water barrier is entered only as the first and last hex of a move', null, null
      ),
      (
        judged.word = 'all' and judged.i = 1 and judged.has = 0, 6, 'O29.1', null, 'forbids', 'it has no points', null,
        null
      ),
      (
        judged.exit_effect = 'forbids', 6, '14.2.1', null, 'forbids', judged.exit_note, null, null
      ),
      (judged.exit_effect = 'unknown', 6, '14.2.1', null, 'unknown', judged.exit_note, null, null),
      (
        judged.dear and judged.word is null and not judged.unsure, 7, 'O29.1', null, 'forbids',
        format(
          'it costs %s and %s is left',
          trim_scale(judged.price / 2.0), trim_scale(greatest(0, judged.has - judged.spent) / 2.0)
        ),
        null, null
      ),
      (
        judged.dear and judged.word is null and judged.unsure, 7, '3.3.1.2', null, 'unknown',
        format('the command number of %s', judged.doubtful), null, null
      ),
      -- what it does
      (
        judged.ends is not null and judged.i < finish.stop, 8, judged.ends, null, 'stops', judged.ends_note,
        case when judged.wired then 'ccp-5' end, null
      ),
      (
        judged.wired and party.wire = 'b' and judged.i < finish.stop, 8, 'A43.7', null, 'places wire',
        'wire is placed here; it may still leave with what it has', 'ccp-5', null
      ),
      (
        coalesce(post.led, 0) <> coalesce(left_post.led, 0) and party.squads is not null and party.told is null
        and judged.i < finish.stop and not judged.leaves, 9, '3.3.1.2', null,
        to_char((coalesce(post.led, 0) - coalesce(left_post.led, 0)) / 2, 'FMSG9'),
        'command of the leaders who stay in the hex, against the hex before', null, null
      ),
      (
        post.broken is not null and judged.i < finish.stop and not judged.leaves, 9, 'O27.3.4', null, 'command',
        format('what %s, a broken leader, still commands', post.broken), 'ccp-29', null
      ),
      (
        judged.way = 'trench' and judged.i < finish.stop, 11, 'F106.2', null, 'no opportunity fire',
        'it came through the trench', null, null
      ),
      (
        judged.leaves and judged.i < finish.stop and party.op_fire = 'a', 11, 'A41.1', null, 'no opportunity fire',
        'it enters no hex as it leaves the map', 'ccp-19', null
      )
    ) as fact (holds, m, rule, at, effect, note, point, halves)
    where fact.holds
      and judged.i <= finish.stop
    union all
    -- sight that a road's cost hangs on, where it could be read otherwise
    select
      judged.i,
      2,
      'T94',
      judged.label,
      case when judged.watcher is null then 'unseen' else 'seen' end,
      'a line of sight to this hex could be read otherwise',
      touched.point,
      null,
      null
    from judged
    cross join finish
    cross join lateral unnest(judged.points) as touched (point)
    where judged.i <= finish.stop
    union all
    -- F104.1: one roll for all who enter together, however many a Hidden action finds (ccp-11)
    select
      judged.i,
      -- ccp-30: before any Op Fire in the hex
      10,
      case when judged.mined then 'A43.2' else 'F104.1' end,
      judged.label,
      'roll',
      'mines attack those who enter',
      case when judged.mined and cardinality(party.ids) > 1 then 'ccp-11' end,
      null,
      null
    from judged
    cross join party
    cross join finish
    cross join lateral generate_series(
      1, case when judged.mined and party.mines = 'b' then cardinality(party.ids) else 1 end
    )
    where judged.i < finish.stop
      and (judged.into_mines or judged.mined)
    union all
    select
      1000,
      0,
      vain.rule,
      vain.at,
      'not placed',
      vain.note,
      null,
      null,
      null
    from (
      select
        array_agg(judged.tq) as qs,
        array_agg(judged.tr) as rs
      from finish
      inner join judged on judged.i < finish.stop
    ) as entered
    cross join lateral ccp._hidden_in_vain(_march.position_id, _march.options, entered.qs, entered.rs) as vain
    union all
    select
      coalesce(fire.i, 1000),
      case when fire.i is null then 1 else 12 end,
      fire.rule,
      coalesce(judged.label, rest.label),
      fire.effect,
      fire.note,
      fire.point,
      null,
      fire.by
    from party
    cross join rest
    cross join entered
    cross join lateral ccp._fire_told(
      _march.position_id, party.side, party.ids, entered.steps, entered.qs, entered.rs, entered.leave,
      _march.conditions, _march.policy
    ) as fire
    left join judged on judged.i = fire.i
    union all
    select
      1000,
      2,
      '3.3.1.2',
      rest.label,
      'unknown',
      format('the command number of %s', rest.doubtful),
      null,
      null,
      null
    from rest
    cross join finish
    where rest.doubtful is not null
      and finish.fails is null
      and finish.opens is null
    union all
    select
      1000,
      2 + ending.n,
      ending.rule,
      rest.label,
      ending.effect,
      ending.note,
      null,
      null,
      null
    from rest
    cross join party
    cross join finish
    cross join lateral ccp._end_told(
      _march.position_id, party.side, party.ids, rest.q, rest.r, _march.policy
    ) as ending
    where rest.i > 0
      and not rest.left_map
      and finish.fails is null
      and finish.opens is null
  ),
  verdict as (
    select
      case when count(judged.i) = 0 then 'O20.3' else 'O29' end as rule,
      coalesce(min(judged.label) filter (where judged.i = finish.stop), min(rest.label)) as at,
      case
        when count(judged.i) = 0 or finish.stop = finish.fails then 'illegal'
        when finish.stop = finish.opens then 'unknown'
        else 'legal'
      end as effect,
      case
        when count(judged.i) = 0 then 'a move enters at least one hex'
        when finish.stop = finish.fails and finish.stop = 1 then 'it cannot take the first step'
        when finish.stop = finish.fails then format('it gets no farther than %s', min(rest.label))
        when finish.stop = finish.opens then 'what is not told would decide it'
        when bool_or(rest.left_map) then 'it leaves the map'
        else 'the whole way'
      end as note,
      min(rest.spent) as halves,
      min(rest.remaining) as remaining
    from finish
    cross join rest
    left join judged on true
    group by finish.stop, finish.fails, finish.opens
  )
  select
    line.rule,
    null::text,
    line.at,
    line.effect,
    line.note,
    line.point,
    line.halves,
    line.remaining,
    line.by
  from (
    select
      told.i,
      told.m,
      told.rule,
      told.at,
      told.effect,
      told.note,
      told.point,
      told.halves,
      null::integer as remaining,
      told.by
    from told
    union all
    select
      1001,
      0,
      verdict.rule,
      verdict.at,
      verdict.effect,
      verdict.note,
      null,
      verdict.halves,
      verdict.remaining,
      null
    from verdict
  ) as line
  order by line.i, line.m, line.at, line.by, line.rule;
end
$$;

comment on function ccp._march(bigint, text, text[], jsonb, jsonb, jsonb) is
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
begin
  if move.options ->> 'as' = 'advance' then
    return query
    select *
    from ccp._advance(move.position_id, move.unit, move.path, move.options, move.conditions, move.policy);
  else
    return query
    select *
    from ccp._march(move.position_id, move.unit, move.path, move.options, move.conditions, move.policy);
  end if;
end
$$;

comment on function ccp.move(bigint, text, text[], jsonb, jsonb, jsonb) is
'A Move or an Advance along a way: a row for every rule that speaks, costs in halves of a point, the verdict last.';
