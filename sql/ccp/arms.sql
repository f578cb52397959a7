-- needs: ccp/stats.sql
-- What a ccp unit and its weapon could fire, how far and with what FP: 3.1, 3.3.1.3, 4, 5, 16.3.2.2, 19.1, F107.

drop type if exists ccp.arm cascade;
create type ccp.arm as (
  unit bigint,
  by text,
  side text,
  q integer,
  r integer,
  label text,
  level integer,
  arm text,
  name text,
  nearest integer,
  farthest integer,
  fp integer,
  ordnance boolean,
  mortar boolean,
  printed integer,
  led integer,
  untold text,
  broken_leader text,
  broken_command integer,
  wire boolean,
  veteran boolean,
  suppressed boolean,
  barred_by text,
  barred text
);

comment on type ccp.arm is
'A unit or its weapon as it could fire: from how near to how far, with what FP, or why not.';
comment on column ccp.arm.arm is 'unit or weapon';
comment on column ccp.arm.farthest is 'How far it fires; null: the counter does not tell';
comment on column ccp.arm.untold is
'The leader in its hex whose command is not told; broken_leader: the broken one, broken_command: what his counter says';
comment on column ccp.arm.barred is 'Why it cannot fire at all, by rule barred_by; null: it can';

create or replace function ccp._fire_bar(stat ccp.stat, arm text)
returns table (rule text, note text)
language sql immutable parallel safe rows 1
as $$
  select
    reason.rule,
    reason.note
  from (
    values
    (1, stat.melee, '19.1', 'nobody fires out of a melee hex'),
    (2, arm = 'weapon' and (stat.attributes ->> 'broken')::boolean, '3.2.3', 'a broken unit fires no weapon'),
    (3, arm = 'weapon' and (stat.attributes ->> 'suppressed')::boolean, '4.2.2', 'a suppressed unit fires no weapon'),
    (
      4, arm = 'weapon' and (stat.attributes -> 'weapon' ->> 'broken')::boolean, '5.4', 'the weapon is broken'
    ),
    (
      5, arm = 'weapon' and ccp._is_water(stat.terrain),
      case stat.terrain when 'stream' then 'T96' when 'swamp' then 'T97' else 'T99' end,
      'no weapon fires from water terrain'
    ),
    (6, arm = 'weapon' and stat.wire, 'F107.3', 'no weapon fires from a wire hex')
  ) as reason (n, holds, rule, note)
  where reason.holds
  order by reason.n
  limit 1
$$;

comment on function ccp._fire_bar(ccp.stat, text) is
'Why a unit or its weapon cannot fire at all; no row where it can.';

create or replace function ccp._arms(state positions.state, gone bigint[] default '{}')
returns setof ccp.arm
language sql stable rows 20
as $$
  select
    stat.id,
    stat.code,
    stat.side,
    stat.q,
    stat.r,
    stat.label,
    stat.level,
    piece.arm,
    piece.name,
    piece.nearest,
    piece.range + change.led + change.status - change.wire,
    piece.fp + change.led + change.status - change.wire,
    piece.ordnance,
    piece.mortar,
    piece.range,
    change.led,
    case when change.follows then stat.untold end,
    case when change.follows then stat.broken_leader end,
    case when change.follows then stat.broken_command else 0 end,
    change.wire = 1,
    piece.arm = 'unit' and coalesce((stat.attributes ->> 'veteran')::boolean, false),
    piece.arm = 'unit' and coalesce((stat.attributes ->> 'suppressed')::boolean, false),
    bar.rule,
    bar.note
  from ccp._stats(state, _arms.gone) as stat
  cross join lateral (
    select
      stat.attributes -> 'weapon' as facts,
      stat.attributes -> 'weapon' -> 'range' as range,
      coalesce((stat.attributes -> 'weapon' ->> 'mortar')::boolean, false) as mortar
  ) as weapon
  cross join lateral (
    -- 3.3.4 b: a Sogeki Hei is ordnance
    select
      'unit' as arm,
      stat.code as name,
      1 as nearest,
      (stat.attributes ->> 'range')::integer as range,
      (stat.attributes ->> 'fp')::integer as fp,
      stat.kind = 'sogeki_hei' as ordnance,
      false as mortar
    union all
    select
      'weapon',
      weapon.facts ->> 'name',
      case when jsonb_typeof(weapon.range) = 'array' then (weapon.range ->> 0)::integer else 1 end,
      case
        when jsonb_typeof(weapon.range) = 'array' then (weapon.range ->> 1)::integer
        else (weapon.range #>> '{}')::integer
      end,
      (weapon.facts ->> 'fp')::integer,
      weapon.mortar or coalesce((weapon.facts ->> 'ordnance')::boolean, false),
      weapon.mortar
    where jsonb_typeof(weapon.facts) = 'object'
  ) as piece
  cross join lateral (
    select
      stat.follows and not (piece.arm = 'weapon' and piece.ordnance) as follows,
      -- 3.3.1.3: leaders never improve ordnance; 4.1.2, 4.2.2 and F107.1 are about the unit alone
      case when piece.arm = 'weapon' and piece.ordnance then 0 else stat.led end as led,
      case when piece.arm = 'unit' then stat.status else 0 end as status,
      case when piece.arm = 'unit' and stat.wire then 1 else 0 end as wire
  ) as change
  left join lateral ccp._fire_bar(stat, piece.arm) as bar on true
  where stat.kind <> 'aircraft'
$$;

comment on function ccp._arms(positions.state, bigint[]) is
'Every unit and weapon that could fire when those who are gone have left their hex: from how near to how far, with what
FP, or why it cannot.';

create or replace function ccp._too_weak(fp integer, hindrance integer)
returns table (rule text, note text)
language sql immutable parallel safe rows 1
as $$
  select
    case when hindrance > 0 then 'O27.3.2' else '16.3.2.2' end,
    format(
      '%s %s FP: only in a Fire Group, or by an action',
      case when hindrance > 0 then format('a Hindrance of %s leaves none of its', hindrance) else 'no shot with' end,
      fp
    )
  where fp <= hindrance
$$;

comment on function ccp._too_weak(integer, integer) is
'Why so much FP makes no shot through a Hindrance, 0 where there is none; no row where it does (16.3.2.2).';
