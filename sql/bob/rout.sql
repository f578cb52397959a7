-- needs: bob/reach.sql, bob/los.sql, bob/sights.sql
-- Rout in bob (Band of Brothers): who must check, and the ways by which a unit may flee: 5.3, 11.0, 11.1, 21.6, 59.5.
--
-- Sight is dear, so it is asked for only where it can decide, and each line once.

create or replace function bob._seen(state positions.state, viewer text, target text)
returns boolean
language plpgsql stable
as $$
begin
  return exists (
    select
    from bob.los(state.position_id, viewer, target, state.conditions, state.readings) as line
    where line.effect = 'visible'
  );
end
$$;

comment on function bob._seen(positions.state, text, text) is
'Whether there is a line of sight.';

create or replace function bob._neighbouring(state positions.state, q1 integer, r1 integer, q2 integer, r2 integer)
returns boolean
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (
    select lattice.distance(q1, r1, q2, r2) = 1 and not exists (
      -- 47.4: nobody is adjacent over a Cliff
      select
      from public.hexside
      where hexside.map_id = state.map_id
        and hexside.x = q1 + q2
        and hexside.y = r1 + r2
        and hexside.kind in ('cliff', 'escarpment')
    )
  );
end
$$;

comment on function bob._neighbouring(positions.state, integer, integer, integer, integer) is
'Whether two hexes are adjacent: side by side, and no Cliff between (47.4).';

create or replace function bob._bridge_to_gully(state positions.state, one bob.piece, other bob.piece)
returns boolean
language sql stable
as $$
  select one.location = 'ground'
    and exists (
      select from public.hex
      where hex.map_id = state.map_id and hex.q = one.q and hex.r = one.r and bob._bridged(hex.terrain, hex.features)
    )
    and exists (
      select from public.hex
      where hex.map_id = state.map_id and hex.q = other.q and hex.r = other.r and hex.terrain = 'gully'
        and (other.location = 'under' or not bob._bridged(hex.terrain, hex.features))
    )
$$;

comment on function bob._bridge_to_gully(positions.state, bob.piece, bob.piece) is
'Whether a unit is on a Bridge and another down in the Gully (45.4).';

create or replace function bob._adjoins(state positions.state, one bob.piece, other bob.piece)
returns boolean
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (
    select case
      when one.q = other.q and one.r = other.r
        -- 40.2, 45.4: the levels of a building, on and under a Bridge
        then one.location <> other.location and not 'cave' in (one.location, other.location)
      -- 40.2: an Upper Level is next to no hex outside its building
      when 'upper' in (one.location, other.location) then one.location = other.location
        and bob._neighbouring(state, one.q, one.r, other.q, other.r)
      -- 45.4: a Bridge is not next to the Gully around it
      when bob._bridge_to_gully(state, one, other) or bob._bridge_to_gully(state, other, one) then false
      -- 43.4: a Cave has two hexes before it
      when 'cave' in (one.location, other.location) then exists (
        select
        from (values (one.q, one.r, other.q, other.r, one.location), (other.q, other.r, one.q, one.r, other.location))
          as cave (q, r, oq, o_r, location)
        inner join public.marker
          on marker.position_id = state.position_id
            and marker.kind in ('cave', 'small_cave')
            and marker.q = cave.q
            and marker.r = cave.r
        cross join lateral lattice.neighbours(cave.q, cave.r) as beside
        where cave.location = 'cave'
          and beside.direction in (marker.facing, marker.facing % 6 + 1)
          and beside.nq = cave.oq
          and beside.nr = cave.o_r
      )
      else bob._neighbouring(state, one.q, one.r, other.q, other.r)
    end
  );
end
$$;

comment on function bob._adjoins(positions.state, bob.piece, bob.piece) is
'Whether two units are adjacent, by the locations that they are in (40.2, 43.4, 45.4, 47.4).';

create or replace function bob._sheltered(state positions.state, q integer, r integer, label text, terrain text)
returns text
language plpgsql stable
as $$
#variable_conflict use_column
begin
  -- a fortification takes the place of the terrain (43.0)
  return (
    select coalesce(
      (
        select marker.kind
        from public.marker
        where marker.position_id = state.position_id
          and marker.q = _sheltered.q
          and marker.r = _sheltered.r
          and marker.kind in ('foxhole', 'trench', 'pillbox', 'bunker', 'sangar', 'fortified')
        order by marker.kind
        limit 1
      ),
      case
        when _sheltered.terrain in (
          'stone_building', 'wooden_building', 'hut', 'woods', 'jungle', 'swamp', 'wheat_field', 'kunai_grass', 'orchard',
          'palm_trees'
        ) then _sheltered.terrain
      end
    )
  );
end
$$;

comment on function bob._sheltered(positions.state, integer, integer, text, text) is
'What makes a hex Beneficial Terrain against fire from everywhere; null where nothing does (6.2, 43.0).';

create or replace function bob._screened(
  state positions.state, q integer, r integer, level integer, enemy bob.piece, enemy_level integer
)
returns text
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (
  -- 11.0, 44.0, 46.1: the line enters the hex over a Hedgerow, a Wall or a Roadblock
  select coalesce(
    (
      select hexside.kind
      from lattice.line(enemy.q, enemy.r, _screened.q, _screened.r) as line
      cross join lateral (
        select case
          when line.kind = 'hex' then line.q1 + _screened.q
          else null
        end as x, case when line.kind = 'hex' then line.r1 + _screened.r end as y
      ) as side
      inner join public.hexside
        on hexside.map_id = state.map_id and hexside.x = side.x and hexside.y = side.y
      where lattice.distance(line.q1, line.r1, _screened.q, _screened.r) = 1
        and hexside.kind in ('hedgerow', 'wall', 'roadblock')
        and (hexside.kind <> 'roadblock' or not bob._is_cleared(state, hexside.x, hexside.y))
      limit 1
    ),
    (
      select hexside.kind
      from public.hexside
      where lattice.distance(enemy.q, enemy.r, _screened.q, _screened.r) = 1
        and hexside.map_id = state.map_id
        and hexside.x = enemy.q + _screened.q
        and hexside.y = enemy.r + _screened.r
        and hexside.kind in ('hedgerow', 'wall', 'roadblock')
        and (hexside.kind <> 'roadblock' or not bob._is_cleared(state, hexside.x, hexside.y))
      limit 1
    ),
    -- bob-50: a Hill that is higher than every enemy within normal range
    case
      when _screened.level > 0 and (
        _screened.level > enemy_level
        or lattice.distance(enemy.q, enemy.r, _screened.q, _screened.r) > case
          when state.readings ->> 'bob-50' = 'b' then 5
          when jsonb_typeof(enemy.attributes -> 'range') = 'array'
            then coalesce((enemy.attributes -> 'range' ->> 1)::integer, 99)
          else coalesce((enemy.attributes ->> 'range')::integer, 99)
        end
      ) then 'hill'
    end
  ));
end
$$;

comment on function bob._screened(positions.state, integer, integer, integer, bob.piece, integer) is
'What shelters a hex from one enemy: a Hedgerow or Wall that his line crosses into it, or its height (11.0, bob-50).';

-- Who must check.

create or replace function bob._rout_reasons(state positions.state, pieces bob.piece[], piece bob.piece)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select
    fact.rule,
    null,
    piece.label,
    fact.effect,
    fact.note,
    fact.point,
    fact.by,
    null::integer,
    null::jsonb
  from (
    select
      1 as n, '11.0' as rule, 'same_hex' as effect, 'an enemy is in its hex' as note, null as point, min(enemy.code) as by
    from unnest(pieces) as enemy
    where enemy.side <> piece.side
      and enemy.q = piece.q
      and enemy.r = piece.r
      and enemy.location = piece.location
      and bob._menaces(enemy)
    having count(*) > 0
    union all
    select 2, '11.0', 'adjacent', 'an enemy not in Melee is adjacent', null, min(enemy.code)
    from unnest(pieces) as enemy
    where enemy.side <> piece.side
      and not enemy.melee
      and bob._menaces(enemy)
      and lattice.distance(piece.q, piece.r, enemy.q, enemy.r) <= 1
      and bob._adjoins(state, piece, enemy)
    having count(*) > 0
    union all
    select 3, '11.0', 'open', 'without cover, within 5 hexes of an enemy that sees it', 'bob-12', min(seen.code)
    from (
      select enemy.code
      from unnest(pieces) as enemy
      inner join public.hex on hex.map_id = state.map_id and hex.q = piece.q and hex.r = piece.r
      inner join public.hex as his on his.map_id = state.map_id and his.q = enemy.q and his.r = enemy.r
      where enemy.side <> piece.side
        and not enemy.melee
        and bob._menaces(enemy)
        and lattice.distance(piece.q, piece.r, enemy.q, enemy.r) between 1 and 5
        and bob._too_dark(state, lattice.distance(piece.q, piece.r, enemy.q, enemy.r)) is not true
        and bob._sheltered(state, hex.q, hex.r, hex.label, hex.terrain) is null
        -- bob-12 b: in Open Ground a side of the hex is no help, nor is a Hindrance
        and (
          state.readings ->> 'bob-12' = 'b'
          or bob._screened(state, hex.q, hex.r, bob._level(hex.terrain, hex.level), enemy, bob._level(his.terrain, his.level))
            is null
        )
        and exists (
          select
          from bob.los(
            state.position_id, 'unit:' || enemy.code, 'unit:' || piece.code, state.conditions, state.readings
          ) as line
          where line.effect = 'visible'
            and (line.hindrance = 0 or state.readings ->> 'bob-12' = 'b')
        )
    ) as seen
    having count(*) > 0
  ) as fact
  where (piece.infantry or piece.gun)
    and not piece.mounted
    -- 43.4: in a Cave nobody checks
    and piece.location <> 'cave'
    -- 309, bob-40: Seishin Squads check in an enemy's hex only
    and (
      fact.effect = 'same_hex'
      or not bob._flag(piece, 'seishin')
      or (piece.attributes ->> 'declared' = 'banzai' and state.readings ->> 'bob-40' = 'b')
    )
  order by fact.n
$$;

comment on function bob._rout_reasons(positions.state, bob.piece[], bob.piece) is
'Why a unit must check for Rout; no row where it need not (11.0, 43.4, 59.5, bob-12, bob-40).';

create or replace function bob._rider_reasons(state positions.state, pieces bob.piece[], piece bob.piece)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    '21.6',
    null,
    piece.label,
    'open',
    'an enemy against whom its Carrier gives no cover',
    null,
    min(enemy.code),
    null::integer,
    null::jsonb
  from unnest(pieces) as enemy
  inner join unnest(pieces) as craft on craft.code = piece.attributes ->> 'in'
  inner join public.hex on hex.map_id = state.map_id and hex.q = piece.q and hex.r = piece.r
  inner join public.hex as his on his.map_id = state.map_id and his.q = enemy.q and his.r = enemy.r
  where piece.mounted
    and enemy.side <> piece.side
    and not enemy.melee
    and bob._menaces(enemy)
    -- at sea in a Landing Craft nobody checks
    and not (craft.attributes ? 'landing_craft' and hex.terrain in ('ocean', 'surf'))
    and lattice.distance(piece.q, piece.r, enemy.q, enemy.r) between 0 and 5
    -- 21.5: next to it, or from higher ground at two hexes, a Carrier is no cover; an Unarmored one is none
    and (
      craft.attributes ? 'unarmored'
      or craft.kind = 'vehicle'
      or lattice.distance(piece.q, piece.r, enemy.q, enemy.r) <= 1
      or (
        lattice.distance(piece.q, piece.r, enemy.q, enemy.r) = 2
        and bob._level(his.terrain, his.level) > bob._level(hex.terrain, hex.level)
      )
    )
    and bob._seen(state, 'unit:' || enemy.code, 'hex:' || piece.label)
  having count(*) > 0
$$;

comment on function bob._rider_reasons(positions.state, bob.piece[], bob.piece) is
'Why a passenger must check for Rout; no row where it need not (21.5, 21.6).';

create or replace function bob._exempt_steps(state positions.state, piece bob.piece)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    fact.rule,
    null,
    piece.label,
    'exempt',
    fact.note,
    fact.point,
    null,
    null::integer,
    null::jsonb
  from (
    values
    (piece.location = 'cave', '43.4', 'in a Cave nobody checks for Rout', null),
    (
      bob._flag(piece, 'seishin') and not (piece.attributes ->> 'declared' is not distinct from 'banzai'),
      '59.5', 'Seishin: it checks only in the hex of an enemy', null
    ),
    (
      bob._flag(piece, 'seishin') and piece.attributes ->> 'declared' is not distinct from 'banzai',
      '59.5', 'a charging Squad and the Rout exemption of Seishin', 'bob-40'
    ),
    (piece.vehicle or piece.decoy, '11.0', 'only Infantry and Guns check for Rout', null),
    (piece.mounted, '21.6', 'a passenger checks where an enemy has no Beneficial modifier against it', null)
  ) as fact (holds, rule, note, point)
  where fact.holds
$$;

comment on function bob._exempt_steps(positions.state, bob.piece) is
'Rules that keep a unit from checking for Rout (11.0, 21.6, 43.4, 59.5).';

create or replace function bob._rout_number(state positions.state, piece bob.piece, close boolean)
returns rulings.ledger_step
language sql stable
as $$
  select row(
    '11.1',
    null,
    piece.label,
    'casualty',
    case
      when close and fact.reduced then 'in Melee or next to an enemy: its only number'
      when close then 'in Melee or next to an enemy: the first number'
      when fact.reduced and state.readings ->> 'bob-28' = 'b' then 'the only number of its Reduced side'
      else 'the second number of its front'
    end,
    case when fact.reduced and not close then 'bob-28' end,
    null,
    2 * case
      when fact.reduced and (close or state.readings ->> 'bob-28' = 'b')
        then coalesce(piece.attributes -> 'back' -> 'casualty' ->> 0, case when jsonb_array_length(piece.attributes -> 'casualty') = 1 then piece.attributes -> 'casualty' ->> 0 end)::integer
      when close then (piece.attributes -> 'casualty' ->> 0)::integer
      else (piece.attributes -> 'casualty' ->> 1)::integer
    end,
    null
  )::rulings.ledger_step
  from (select bob._flag(piece, 'reduced') as reduced) as fact
$$;

comment on function bob._rout_number(positions.state, bob.piece, boolean) is
'The number that the margin of a failed Rout check is compared with (11.1, bob-28); null where the counter does not tell.';

create or replace function bob._alone_in_melee(pieces bob.piece[], piece bob.piece)
returns boolean
language sql immutable parallel safe
return (piece).melee and not exists (
  select
  from unnest(pieces) as friend
  where friend.side = (piece).side
    and friend.code <> (piece).code
    and friend.q = (piece).q
    and friend.r = (piece).r
    and friend.location = (piece).location
    and friend.melee
);

comment on function bob._alone_in_melee(bob.piece[], bob.piece) is
'Whether no friend would hold the Melee that a unit leaves (11.1).';

create or replace function bob._veil_steps(state positions.state, pieces bob.piece[], piece bob.piece, because text[])
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select fact.rule, null, piece.label, fact.effect, fact.note, fact.point, enemy.code, null::integer, null::jsonb
  from unnest(pieces) as enemy
  inner join public.hex on hex.map_id = state.map_id and hex.q = piece.q and hex.r = piece.r
  cross join lateral (
    select
      bool_or(line.rule = '48.0') as smoke,
      coalesce(bool_or(line.effect = 'visible' and line.hindrance > 0), false) as hindered
    from bob.los(
      state.position_id, 'unit:' || enemy.code, 'unit:' || piece.code, state.conditions, state.readings
    ) as line
    having bool_or(line.effect = 'visible')
  ) as sight
  cross join lateral (
    values
    (
      sight.smoke and 'open' = any(because), '48.0', 'counts nothing', format('smoke before %s does not save it', enemy.code), null
    ),
    (
      sight.hindered and not 'open' = any(because), '46.0', 'spares', format('the line of %s is Hindered', enemy.code), 'bob-12'
    )
  ) as fact (holds, rule, effect, note, point)
  where fact.holds
    and enemy.side <> piece.side
    and not enemy.melee
    and bob._menaces(enemy)
    and lattice.distance(piece.q, piece.r, enemy.q, enemy.r) between 1 and 5
    and bob._sheltered(state, hex.q, hex.r, hex.label, hex.terrain) is null
  order by enemy.code collate "C"
$$;

comment on function bob._veil_steps(positions.state, bob.piece[], bob.piece, text[]) is
'What lies between a unit in the open and who sees it: smoke, which saves nobody from a Rout check, and Hindrances, which do (11.0, 46.0, 48.0).';

create or replace function bob.rout_check(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
declare
  state positions.state;
  pieces bob.piece[] := array(select piece from bob._pieces(rout_check.position_id) as piece);
  piece bob.piece;
  reasons rulings.ledger_step[];
  number rulings.ledger_step;
  because text[];
begin
  select * into state from positions.state(rout_check.position_id, rout_check.conditions, rout_check.policy);
  perform positions._asked_counter(rout_check.position_id, rout_check.unit);
  select * into piece from unnest(pieces) as found where found.code = rout_check.unit;
  reasons := array(
    select reason from bob._rout_reasons(state, pieces, piece) as reason
    union all
    select reason from bob._rider_reasons(state, pieces, piece) as reason
  );
  because := array(select reason.effect from unnest(reasons) as reason);
  return query select * from unnest(reasons);
  return query select * from bob._veil_steps(state, pieces, piece, because);
  return query select * from bob._exempt_steps(state, piece);
  number := bob._rout_number(state, piece, because && '{same_hex,adjacent}' or piece.melee);
  if cardinality(because) > 0 and piece.infantry then
    return next number;
  end if;
  return next row(
    '11.0', null, piece.label, case when cardinality(because) > 0 then 'checks' else 'unaffected' end,
    case when cardinality(because) > 0 then 'it must pass a Morale Check' else 'it does not check for Rout' end,
    null, null, null,
    jsonb_build_object(
      'checks', cardinality(because) > 0,
      'because', to_jsonb(because),
      'casualty', case when cardinality(because) > 0 and piece.infantry then number.halves / 2 end,
      'melee', piece.melee,
      'gun', piece.gun and not piece.mounted,
      'carrier', piece.attributes ->> 'in',
      'engaged', 'same_hex' = any(because),
      'alone', bob._alone_in_melee(pieces, piece)
    )
  )::rulings.ledger_step;
end
$$;

comment on function bob.rout_check(bigint, text, jsonb, jsonb) is
'Whether a unit must check for Rout now, why, and what number its margin is compared with; the verdict last.';
