-- needs: ccp/fire.sql, ccp/giving.sql, ccp/op_fire.sql, ccp/orders.sql
-- What a player who is asked in the midst of a Move could do: Op Fire at a hex, by whom (A41.2).

create or replace function ccp._op_firers(state positions.state, at text, side text)
returns table (by text, label text, kind text, command integer, done text, pieces text[])
language sql stable rows 6
as $$
  with arm as materialized (
    select arm.*
    from ccp._arms(state) as arm
    where arm.side = _op_firers.side
      and arm.barred is null
      and not arm.ordnance
      and arm.farthest is not null
      and arm.fp is not null
  ),
  goal as materialized (
    select
      hex.q,
      hex.r
    from public.hex
    where hex.map_id = state.map_id
      and hex.label = _op_firers.at
  ),
  line as materialized (
    select distinct line.by
    from goal
    cross join (select array_agg(one::ccp.arm) as arms from arm as one) as every
    cross join lateral ccp._op_fire_lines(state, every.arms, array[goal.q], array[goal.r]) as line
    where line.visible
      and line.strength > coalesce(line.hindrance, 0)
  )
  select
    arm.by,
    arm.label,
    stat.kind,
    stat.command,
    stat.attributes ->> 'activated',
    array_agg(case arm.arm when 'unit' then arm.by else arm.by || ':weapon' end order by arm.arm)
  from arm
  cross join goal
  inner join ccp._stats(state) as stat on stat.id = arm.unit
  where arm.by in (select line.by from line)
    and lattice.distance(arm.q, arm.r, goal.q, goal.r) between arm.nearest and arm.farthest
  group by arm.by, arm.label, stat.kind, stat.command, stat.attributes
$$;

comment on function ccp._op_firers(positions.state, text, text) is
'The units of a side that could fire at a hex in Op Fire, with their pieces, and for what they are activated.';

create or replace function ccp.op_fire_offers(
  position_id bigint, at text, side text, carded boolean, conditions jsonb default null, policy jsonb default null
)
returns table (word text, head text, others text[], pieces text[])
language sql stable rows 6
as $$
  with firer as materialized (
    select firer.*
    from positions.state(op_fire_offers.position_id, op_fire_offers.conditions, op_fire_offers.policy) as state
    cross join lateral ccp._op_firers(state, op_fire_offers.at, op_fire_offers.side) as firer
  ),
  fresh as materialized (
    select firer.*
    from firer
    where op_fire_offers.carded
      and (firer.done is null or (firer.kind = 'hero' and firer.done <> 'op_fire'))
  )
  select
    offer.word,
    offer.head,
    offer.others,
    offer.pieces
  from (
    select format('%s fires', firer.by) as word, null as head, '{}'::text[] as others, firer.pieces, 1 as n
    from firer
    where firer.done = 'op_fire'
    union all
    select
      format('all in %s fire', firer.label), null, '{}',
      array(select piece from firer as one, unnest(one.pieces) as piece
            where one.label = firer.label and one.done = 'op_fire' order by piece),
      2
    from firer
    where firer.done = 'op_fire'
    group by firer.label
    having count(*) > 1
    union all
    select format('%s, with a Fire card', fresh.by), fresh.by, '{}', fresh.pieces, 3
    from fresh
    union all
    select
      format('%s and those with him, with a Fire card', lead.by),
      lead.by,
      array(select one.by from fresh as one
            where one.label = lead.label and one.kind in ('squad', 'team') order by one.by),
      array(select piece from fresh as one, unnest(one.pieces) as piece
            where one.label = lead.label and (one.kind in ('squad', 'team') or one.by = lead.by) order by piece),
      4
    from fresh as lead
    where lead.kind in ('leader', 'hero')
      and lead.command is not null
      and exists (
        select from fresh as one where one.label = lead.label and one.kind in ('squad', 'team')
      )
  ) as offer
  order by offer.n, offer.word
$$;

comment on function ccp.op_fire_offers(bigint, text, text, boolean, jsonb, jsonb) is
'How a side could fire at a hex that was just entered: by who is activated for Op Fire, and with a Fire card by others;
who is activated first, whom he takes along, and the pieces that fire (A41.2).';

create or replace function ccp.fire_offers(
  position_id bigint, side text, conditions jsonb default null, policy jsonb default null
)
returns table (piece text, label text, target text, ordnance boolean)
language sql stable rows 10
as $$
  select distinct
    case arm.arm when 'unit' then arm.by else arm.by || ':weapon' end,
    arm.label,
    seen.label,
    arm.ordnance
  from positions.state(fire_offers.position_id, fire_offers.conditions, fire_offers.policy) as state
  cross join lateral ccp._stats(state) as stat
  inner join ccp._arms(state) as arm on arm.unit = stat.id and arm.barred is null
  cross join lateral ccp._seen_enemies(state, stat) as seen
  where stat.side = fire_offers.side
    and stat.attributes ->> 'activated' = 'fire'
    and not seen.melee
    and seen.away between arm.nearest and arm.farthest
    and not coalesce(stat.attributes -> 'fired' ? arm.arm, false)
  order by 1, 3
$$;

comment on function ccp.fire_offers(bigint, text, jsonb, jsonb) is
'Pieces that are activated to fire and have not yet, each with the hexes of enemies in its sight and range (O27).';

create or replace function ccp.led_by(position_id bigint, unit text, conditions jsonb default null, policy jsonb default null)
returns table (code text)
language sql stable rows 4
as $$
  select one.code
  from positions.state(led_by.position_id, led_by.conditions, led_by.policy) as state
  cross join lateral ccp._stats(state) as head
  cross join lateral ccp._stats(state) as one
  where head.code = led_by.unit
    and one.side = head.side
    and one.follows
    and not one.attributes ? 'activated'
    and lattice.distance(one.q, one.r, head.q, head.r) <= head.command
  order by one.code
$$;

comment on function ccp.led_by(bigint, text, jsonb, jsonb) is
'Squads and teams within a leader''s command that were not activated yet this turn (3.3.1.1).';

create or replace function ccp.could_carry_out(
  position_id bigint, kind text, conditions jsonb default null, policy jsonb default null
)
returns boolean
language sql stable
as $$
  select
    case could_carry_out.kind
      when 'move' then exists (
        select
        from ccp._stats(state) as stat
        where stat.attributes ->> 'activated' = 'move'
          and ccp.can_move(state.position_id, stat.code, state.conditions, state.readings)
      )
      when 'advance' then exists (
        select from ccp._stats(state) as stat where stat.attributes ->> 'activated' = 'advance'
      )
      else exists (
        select
        from (
          select array[offer.piece] as pieces, offer.target
          from ccp.fire_offers(
            state.position_id, state.conditions ->> 'active', state.conditions, state.readings
          ) as offer
          union all
          select array_agg(offer.piece), offer.target
          from ccp.fire_offers(
            state.position_id, state.conditions ->> 'active', state.conditions, state.readings
          ) as offer
          where not offer.ordnance
          group by offer.label, offer.target
        ) as shot
        cross join lateral ccp.fire(
          state.position_id, 'fire', shot.pieces, shot.target, '{}', state.conditions, state.readings
        ) as step
        where (step.facts ->> 'allowed')::boolean
      )
    end
  from positions.state(could_carry_out.position_id, could_carry_out.conditions, could_carry_out.policy) as state
$$;

comment on function ccp.could_carry_out(bigint, text, jsonb, jsonb) is
'Whether anybody who is activated for an order could still carry it out (O20.3).';
